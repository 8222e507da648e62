package workload

import "slices"

// mix are the sizes of twenty results, used in turn. They are based on 268 results of tools/call from the 22 real
// servers of testenv/servers in the end-to-end tests: three quarters had fewer than 512 bytes (the median is 302), 15 %
// up to 1 KiB, 5 % up to 4 KiB and 3 % more, at most 7.6 KiB. The tests' folders are small, so one in twenty has 40 KiB
// here, like a file or a log, or like a large page of tools: of 53 pages, half had more than 7.7 KiB, and a tenth more
// than 73.
var mix = []int{
	few, few, KiB, few, few, few, few, 4 * KiB, few, few, KiB, few, few, few, few, 40 * KiB, few, few, KiB, few,
}

const few = 300

// MixedSize is the mean size of [Mixed] results.
var MixedSize = func() (sum int) {
	for _, size := range mix {
		sum += size
	}
	return sum / len(mix)
}()

// busySize is the mean size of [Busy] results.
var busySize = (200*MixedSize + MiB) / 201

// mixed returns the answers with Mixed results. The payload has no frame of its own.
func mixed(e Era) Payload {
	p := Payload{Size: MixedSize}
	for _, size := range mix {
		p.Mix = append(p.Mix, NewPayload(e, Text, size))
	}
	return p
}

// busy returns the answers with Busy results.
func busy(e Era) Payload {
	p := Payload{Size: busySize, Mix: slices.Repeat(mixed(e).Mix, 200/len(mix))}
	p.Mix = append(p.Mix, NewPayload(e, Text, MiB))
	return p
}
