package workload

import "testing"

// asUsed returns calls as users make them: with maps, with their own HTTP clients, in large heaps, with production
// telemetry, with several clients at once, and with results of realistic sizes. A use that costs the same in both eras,
// or for one caller and for many, is measured once.
func asUsed() (all []roundtrip) {
	add := func(t Transport, e Era, s Shape, size, callers int, u Use) {
		all = append(all, roundtrip{t, Canned{e, s, size}, callers, u})
	}
	for _, e := range Eras {
		for _, t := range []Transport{Stdio, HTTPJSON} {
			for _, callers := range []int{1, 64} {
				add(t, e, Text, Tiny, callers, mapArguments)
			}
		}
		add(HTTPSSE, e, Text, Tiny, 1, ownClient)
	}
	for _, u := range []Use{structArguments, rawArguments} {
		add(Stdio, Modern, Text, Tiny, 1, u)
	}
	for _, u := range []Use{ownClient, wrappedClient, tlsClient, h2Client} {
		all = append(all, byClient(u)...)
	}
	for _, t := range []Transport{Stdio, HTTPJSON} {
		add(t, Modern, Text, Tiny, 1, largeHeap)
		add(t, Modern, Text, Tiny, 1, largeArguments)
		for _, callers := range []int{1, 64} {
			add(t, Modern, Text, Tiny, callers, inProduction)
		}
		add(t, Modern, Text, Tiny, 8, severalClients)
		add(t, Modern, Mixed, MixedSize, 1, Use{})
		add(t, Modern, Mixed, MixedSize, 8, Use{})
		for _, s := range []Shape{Text, Items} {
			for _, size := range []int{KiB, 4 * KiB, 16 * KiB, 64 * KiB, 256 * KiB} {
				add(t, Modern, s, size, 1, Use{})
			}
		}
	}
	add(Stdio, Modern, Text, 100*KiB, 1, largeHeap)
	return all
}

// byClient returns tiny calls over HTTP for a use with its own HTTP client.
func byClient(u Use) (all []roundtrip) {
	for _, e := range Eras {
		all = append(all, roundtrip{HTTPJSON, Canned{e, Text, Tiny}, 1, u})
	}
	return append(all, roundtrip{HTTPJSON, Canned{Modern, Text, Tiny}, 64, u})
}

// AsUsed runs calls as users make them, like [Roundtrips].
func AsUsed(b *testing.B, peers ...Peer) { runAll(b, asUsed(), peers) }

// AsUsedBy runs those benchmarks of [AsUsed] that need the user's HTTP client, with the client of u, which may come
// from another module.
func AsUsedBy(b *testing.B, u Use, peers ...Peer) { runAll(b, byClient(u), peers) }
