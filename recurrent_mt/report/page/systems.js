// The systems of the report, and which of them are shown: charts, legends and the sentence browser follow it together.
export class Systems {
  constructor(names) {
    this.names = names;
    this.shown = new Set(names.keys());
    this.listeners = [];
  }

  isShown(system) {
    return this.shown.has(system);
  }

  toggle(system) {
    if (!this.shown.delete(system)) {
      this.shown.add(system);
    }
    this.listeners.forEach((listener) => listener());
  }

  onchange(listener) {
    this.listeners.push(listener);
  }
}
