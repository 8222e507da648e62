package soak

import (
	"encoding/binary"
	"os"
	"path/filepath"
)

// ledger is a file with the numbers of the calls that a process has run, 8 bytes each. It is safe for concurrent use,
// and survives the process.
type ledger struct{ f *os.File }

func (l *ledger) write(number int) error {
	_, err := l.f.Write(binary.BigEndian.AppendUint64(nil, uint64(number))) // a single write appends the whole number
	return err
}

// Runs counts how often calls have run, by their outcome at the caller.
type Runs struct {
	Once    int // successful calls that ran once
	Lost    int // successful calls that did not run
	Doubled int // calls that ran more than once
	Unheard int // failed calls that ran once
	Strange int // numbers that belong to no call
}

// count reads all ledgers. ok has the numbers of the successful calls; calls are numbered from 0.
func count(pattern string, ok *set, calls int) (r Runs, err error) {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return r, err
	}
	ran := make([]uint8, calls)
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			return r, err
		}
		for ; len(raw) >= 8; raw = raw[8:] { // a killed process may leave a part of a number
			if n := binary.BigEndian.Uint64(raw); n >= uint64(calls) {
				r.Strange++
			} else if ran[n] < 2 {
				ran[n]++
			}
		}
	}
	for n, times := range ran {
		switch succeeded := ok.has(n); {
		case times > 1:
			r.Doubled++
		case times == 1 && succeeded:
			r.Once++
		case times == 1:
			r.Unheard++
		case succeeded:
			r.Lost++
		}
	}
	return r, nil
}

// set is a set of numbers from 0. Its JSON is base64.
type set struct{ Bits []byte }

func newSet(n int) *set { return &set{make([]byte, (n+7)/8)} }

func (s *set) add(n int) { s.Bits[n/8] |= 1 << (n % 8) }

func (s *set) has(n int) bool { return s != nil && n/8 < len(s.Bits) && s.Bits[n/8]&(1<<(n%8)) != 0 }
