// What the annotator has done so far: kept in this browser under a key that contains the page's checksum. Tabs share it:
// what is kept is read again before anything is changed.
class Progress {
  constructor(data) {
    this.data = data;
    this.storageKey = `rating-page:${data.page}`;
    this.saved = true;
    this.clear();
    Object.assign(this, this.read());
  }

  clear() {
    this.annotator = "";
    this.screen = 0;
    this.ratings = {}; // item -> scale -> number
    this.ratedAt = {}; // item -> time of the last change
    this.seconds = {}; // screen -> seconds in sight
  }

  // Null where nothing is kept.
  read() {
    try {
      return JSON.parse(localStorage.getItem(this.storageKey));
    } catch {
      this.saved = false;
      return null;
    }
  }

  write() {
    const { annotator, screen, ratings, ratedAt, seconds } = this;
    try {
      localStorage.setItem(this.storageKey, JSON.stringify({ annotator, screen, ratings, ratedAt, seconds }));
      this.saved = true;
    } catch {
      this.saved = false;
    }
  }

  // What any tab has kept, but for the screen, which is each tab's own.
  update() {
    Object.assign(this, this.read(), { screen: this.screen });
  }

  change(make) {
    this.update();
    make();
    this.write();
  }

  startOver() {
    this.clear();
    this.write();
  }

  goTo(screen) {
    this.change(() => (this.screen = screen));
  }

  rename(annotator) {
    this.change(() => (this.annotator = annotator));
  }

  rate(item, scale, value) {
    this.change(() => {
      this.ratings[item] = { ...this.ratings[item], [scale]: value };
      this.ratedAt[item] = new Date().toISOString();
    });
  }

  rating(item, scale) {
    return this.ratings[item]?.[scale] ?? null;
  }

  isItemRated(item) {
    return this.data.scales.every((scale) => this.rating(item.id, scale.name) !== null);
  }

  unratedOn(screen) {
    return screen.items.filter((item) => !this.isItemRated(item)).length;
  }

  get items() {
    return this.data.screens.flatMap((screen) => screen.items);
  }

  get unrated() {
    return this.items.filter((item) => !this.isItemRated(item)).length;
  }

  get started() {
    return Object.keys(this.ratings).length > 0;
  }

  addSeconds(screen, seconds) {
    this.change(() => (this.seconds[screen] = (this.seconds[screen] ?? 0) + seconds));
  }

  exported() {
    this.update();
    const { page, mode, scales, screens } = this.data;
    const entry = (item, index) => ({
      item: item.id,
      ...Object.fromEntries(scales.map((scale) => [scale.name, this.rating(item.id, scale.name)])),
      rated_at: this.ratedAt[item.id] ?? null,
      screen_seconds: Math.round(10 * (this.seconds[index] ?? 0)) / 10,
    });
    return {
      format: "ratings/1",
      page,
      mode,
      annotator: this.annotator,
      exported_at: new Date().toISOString(),
      ratings: screens.flatMap((screen, index) => screen.items.map((item) => entry(item, index))),
    };
  }
}
