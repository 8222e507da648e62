package workload

// mix are the sizes of twenty results, in turn. Of 268 results of tools/call that the 22 real servers of
// testenv/servers gave in the end-to-end tests, three quarters had fewer than 512 bytes (the median is 302), 15 % up to
// 1 KiB, 5 % up to 4 KiB and 3 % more, 7.6 KiB at most. The tests' folders are small, so one of twenty is of 40 KiB
// here, as a file or a log is, and as large pages of tools are: of 53 pages, half had more than 7.7 KiB, and a tenth
// more than 73.
var mix = []int{
	few, few, KiB, few, few, few, few, 4 * KiB, few, few, KiB, few, few, few, few, 40 * KiB, few, few, KiB, few,
}

const few = 300

// MixedSize is the mean of the sizes of [Mixed] results.
var MixedSize = func() (sum int) {
	for _, size := range mix {
		sum += size
	}
	return sum / len(mix)
}()

// mixed returns the answers with Mixed results. It has no frame of its own.
func mixed(e Era) Payload {
	p := Payload{Size: MixedSize}
	for _, size := range mix {
		p.Mix = append(p.Mix, NewPayload(e, Text, size))
	}
	return p
}
