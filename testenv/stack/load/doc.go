// Package load sends spans to a Collector as fast as it takes them, or at a rate, and knows of each whether it arrived.
//
// The spans are those of real calls: [Record] makes two calls with the project's client and server, one that succeeds
// and one that fails, and keeps what their SDKs export. A [Load] repeats them under new ids. The ids are numbers, by
// which a [Receiver], which takes the place of what the Collector exports to, notes which spans it has.
package load
