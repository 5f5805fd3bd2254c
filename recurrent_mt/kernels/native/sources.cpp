// The checksum of all sources, which build.py passes, so that a library tells which ones it was compiled from.

extern "C" {
extern const char recurrent_mt_sources[];
__attribute__((used)) const char recurrent_mt_sources[] = SOURCES;
}
