package jsonscan_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// shapes returns texts of about size bytes, from the easiest to the hardest for a scanner.
func shapes(size int) map[string][]byte {
	repeat := func(unit string) []byte {
		return []byte(`{"type":"text","text":"` + strings.Repeat(unit, size/len(unit)+1) + `"}`)
	}
	var items bytes.Buffer
	items.WriteString(`{"items":[`)
	for i := 0; items.Len() < size; i++ {
		fmt.Fprintf(&items, `{"id":%d,"name":"item %d","tags":["a","b"],"price":%d.5,"ok":true,"note":null},`, i, i, i)
	}
	items.WriteString(`{}]}`)
	return map[string][]byte{
		"plain":      repeat("The quick brown fox jumps over the lazy dog. "),
		"lines":      repeat(strings.Repeat("x", 78) + `\n`),
		"escapes":    repeat(`eight by\"`),
		"cjk":        repeat("観測可能性"),
		"mixed":      repeat("größer Übermut, naïve "),
		"structured": items.Bytes(),
	}
}

var shapeNames = []string{"plain", "lines", "escapes", "cjk", "mixed", "structured"}

func BenchmarkValid(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20} {
		texts := shapes(size)
		for _, name := range shapeNames {
			b.Run(fmt.Sprintf("shape=%s/size=%d", name, size), func(b *testing.B) {
				text := texts[name]
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					if err := jsonscan.Valid(text); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkText(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20} {
		texts := shapes(size)
		for _, name := range []string{"plain", "lines", "escapes", "cjk", "mixed"} {
			b.Run(fmt.Sprintf("shape=%s/size=%d", name, size), func(b *testing.B) {
				text := texts[name]
				at := bytes.LastIndexByte(text, ':') + 1
				scratch := make([]byte, len(text))
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					copy(scratch, text)
					if _, _, err := jsonscan.Text(scratch, at); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkObject(b *testing.B) {
	text := []byte(`{"type":"text","text":"a line of output","annotations":{"priority":0.5},"_meta":{"a":1}}`)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		o := jsonscan.ObjectAt(text, 0)
		for o.Next() {
			switch string(o.Key()) {
			case "type", "text":
				n += len(o.Raw())
			}
		}
		if o.Err() != nil || n == 0 {
			b.Fatal(o.Err(), n)
		}
	}
}
