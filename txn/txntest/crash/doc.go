// Package crash breaks a coordinator at every point where it touches its store or
// a participant, once per run, in every way that can happen in production, and
// checks what must hold whatever happens: everything ends, nothing is half done,
// nothing is decided twice, and nobody was told a wrong outcome.
//
// A run has two coordinators on one store. The first sees the store and its
// participants through wrappers that count calls and break one of them; the second
// sees them as they are. Matrix enumerates (script × method × call number × fault ×
// who goes on), and fails if a method or a kind of call was never broken, so a new
// one cannot be forgotten.
package crash
