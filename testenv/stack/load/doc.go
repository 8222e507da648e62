// Package load sends spans to a Collector at a given rate or at its maximum rate, and records which spans arrived.
//
// The spans come from real calls: [Record] makes two calls with the project's client and server, one that succeeds and
// one that fails, and keeps the exported spans. A [Load] repeats them under new ids. The ids are numbers, by which a
// [Receiver], which replaces the Collector's backend, records the spans that it has received.
package load
