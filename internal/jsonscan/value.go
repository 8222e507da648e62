package jsonscan

// MaxDepth is the maximum number of nested arrays and objects in one value. The depth is counted for each call of
// [Value]: if a decoder descends with an [Object] or an [Array], every value that it skips may again have the full
// depth.
const MaxDepth = 1024

// Valid returns nil if b is exactly one JSON value, with optional space around it, and otherwise the reason why not.
func Valid(b []byte) error {
	end, err := Value(b, 0)
	if err != nil {
		return err
	}
	return Rest(b, end)
}

// Rest returns an error if b[i:] has anything but space.
func Rest(b []byte, i int) error {
	if i = Space(b, i); i < len(b) {
		return unexpected(b, i)
	}
	return nil
}

// Value validates the value at b[i], skipping leading space, and returns the offset behind it. It ignores the text
// behind the value. The error is a [*SyntaxError].
func Value(b []byte, i int) (end int, err error) {
	i = Space(b, i)
	if i < len(b) && (b[i] == '{' || b[i] == '[') {
		return container(b, i)
	}
	return scalar(b, i)
}

// Space returns the offset of the first byte from b[i] on that is not JSON white space.
func Space(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

func isSpace(c byte) bool {
	const set = 1<<' ' | 1<<'\t' | 1<<'\n' | 1<<'\r'
	return c <= ' ' && uint64(set)>>c&1 != 0
}

// levels records for each open level whether it is an object (bit set) or an array.
type levels struct {
	objects [MaxDepth / 64]uint64
	n       int
}

// push opens a level. It reports false if [MaxDepth] levels are open already.
func (l *levels) push(object bool) bool {
	if l.n == MaxDepth {
		return false
	}
	word, bit := l.n/64, uint64(1)<<(l.n%64)
	l.objects[word] &^= bit
	if object {
		l.objects[word] |= bit
	}
	l.n++
	return true
}

// pop closes a level and reports whether the enclosing level is an object.
func (l *levels) pop() (object bool) {
	l.n--
	if l.n == 0 {
		return false
	}
	top := l.n - 1
	return l.objects[top/64]>>(top%64)&1 != 0
}

// container validates the object or array at b[i] without recursion.
func container(b []byte, i int) (int, error) {
	var open levels
	var err error
	closing := byte(0) // closing bracket of the innermost level
	for {
		// b[i] is the beginning of a value: a member's, an element's, or the outermost.
		switch c := at(b, i); c {
		case '{', '[':
			if !open.push(c == '{') {
				return i, &SyntaxError{Offset: i, Reason: TooDeep}
			}
			closing = closer(c == '{')
			if i = Space(b, i+1); at(b, i) == closing {
				break
			}
			if c == '{' {
				if i, err = name(b, i); err != nil {
					return i, err
				}
			}
			continue
		case '"':
			i, _, err = String(b, i)
		default:
			i, err = bare(b, i)
		}
		if err != nil {
			return i, err
		}
		// b[i] is behind a value, or at the closing bracket of an empty level.
		c := at(b, i)
		for c != ',' {
			if c <= ' ' {
				if i = Space(b, i); at(b, i) == ',' {
					break
				}
			}
			if at(b, i) != closing {
				return i, unexpected(b, i)
			}
			i++
			object := open.pop()
			if open.n == 0 {
				return i, nil
			}
			closing = closer(object)
			c = at(b, i)
		}
		if i = Space(b, i+1); closing == '}' {
			if i, err = name(b, i); err != nil {
				return i, err
			}
		}
	}
}

// at returns b[i]. Behind the end it returns 0, which valid JSON text never contains outside strings.
func at(b []byte, i int) byte {
	if i < len(b) {
		return b[i]
	}
	return 0
}

func closer(object bool) byte {
	if object {
		return '}'
	}
	return ']'
}

// name validates a member's name and its colon and returns the offset of the value.
func name(b []byte, i int) (int, error) {
	i, _, err := String(b, i)
	if err != nil {
		return i, err
	}
	return colon(b, i)
}

// colon reads a colon, skipping leading space, and returns the offset of the value behind it.
func colon(b []byte, i int) (int, error) {
	if at(b, i) != ':' {
		if i = Space(b, i); at(b, i) != ':' {
			return i, unexpected(b, i)
		}
	}
	return Space(b, i+1), nil
}

// scalar validates the string, number or literal at b[i].
func scalar(b []byte, i int) (int, error) {
	if at(b, i) == '"' {
		end, _, err := String(b, i)
		return end, err
	}
	return bare(b, i)
}

// bare validates the number or literal at b[i].
func bare(b []byte, i int) (int, error) {
	switch rest := b[min(i, len(b)):]; at(b, i) {
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return number(b, i)
	case 't':
		if len(rest) >= 4 && string(rest[:4]) == "true" {
			return i + 4, nil
		}
		return misspelt(b, i, "true")
	case 'f':
		if len(rest) >= 5 && string(rest[:5]) == "false" {
			return i + 5, nil
		}
		return misspelt(b, i, "false")
	case 'n':
		if len(rest) >= 4 && string(rest[:4]) == "null" {
			return i + 4, nil
		}
		return misspelt(b, i, "null")
	}
	return i, unexpected(b, i)
}

// misspelt returns the error for the first byte from b[i] on that differs from word.
func misspelt(b []byte, i int, word string) (int, error) {
	for n := range len(word) {
		if at(b, i+n) != word[n] {
			i += n
			break
		}
	}
	return i, unexpected(b, i)
}
