package main

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"maps"
	"slices"
)

// shrink reduces a picture of text to 256 colours, which is invisible and makes it a third as large.
func shrink(raw []byte) ([]byte, error) {
	full, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	area := full.Bounds()
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(full.At(x, y)).(color.RGBA) }
	count := make(map[color.RGBA]int)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			count[at(x, y)]++
		}
	}
	palette := chosen(count)
	small := image.NewPaletted(area, palette)
	index := make(map[color.RGBA]uint8)
	for c := range count {
		index[c] = uint8(palette.Index(c))
	}
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			small.SetColorIndex(x, y, index[at(x, y)])
		}
	}
	var b bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, small)
	return b.Bytes(), err
}

// areas is the number of the most frequent colours, which are assumed to fill areas and kept unchanged.
const areas = 24

// chosen returns up to 256 colours that represent all: first those of areas, and then colours that differ visibly from
// all colours before them, so that a small mark keeps its colour beside the many shades at the edges of text.
func chosen(count map[color.RGBA]int) (palette color.Palette) {
	frequent := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(count[b]-count[a], int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B))
	})
	for _, c := range frequent {
		near := len(palette) >= areas && slices.ContainsFunc(palette, func(other color.Color) bool {
			return distance(c, other.(color.RGBA)) < 14
		})
		if !near && len(palette) < 256 {
			palette = append(palette, c)
		}
	}
	return palette
}

func distance(a, b color.RGBA) int {
	abs := func(d int) int { return max(d, -d) }
	return max(abs(int(a.R)-int(b.R)), abs(int(a.G)-int(b.G)), abs(int(a.B)-int(b.B)))
}
