package jsonscan

// MaxDepth is how many levels of arrays and objects one value may have. Where a decoder walks into a value with an
// [Object] or an [Array], each value it passes over by [Value] has the whole depth again.
const MaxDepth = 1024

// Valid reports why b is not exactly one JSON value, space around it allowed; nil if it is.
func Valid(b []byte) error {
	end, err := Value(b, 0)
	if err != nil {
		return err
	}
	return Rest(b, end)
}

// Rest reports whether anything but space follows from b[i] on.
func Rest(b []byte, i int) error {
	if i = Space(b, i); i < len(b) {
		return unexpected(b, i)
	}
	return nil
}

// Value validates the value that begins at b[i], leading space skipped, and returns the offset behind it.
// What follows the value is not looked at. The error is a [*SyntaxError].
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

// levels remembers for each open level whether it is an object (bit set) or an array.
type levels struct {
	objects [MaxDepth / 64]uint64
	n       int
}

// push opens a level, false when there are [MaxDepth] already.
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

// pop closes a level and reports whether the one around it is an object.
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
	closing := byte(0) // the bracket that ends the innermost level
	for {
		// b[i] is where a value begins: a member's, an element's, or the outermost.
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
		// b[i] is behind a value, or at the bracket that closes an empty level.
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

// at returns b[i], or 0, which no JSON text holds outside its strings, behind the end.
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

// name validates a member's name and its colon and returns where the value begins.
func name(b []byte, i int) (int, error) {
	i, _, err := String(b, i)
	if err != nil {
		return i, err
	}
	return colon(b, i)
}

// colon returns where the value behind the colon begins that is expected from b[i] on.
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
