//go:build !linux

package workload

// PeakResident calls f and returns false: only Linux tells.
func PeakResident(f func()) (int, bool) {
	f()
	return 0, false
}
