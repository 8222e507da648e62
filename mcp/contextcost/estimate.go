package contextcost

// kind is the class of a byte for the tokenizer.
type kind uint8

const (
	punctuation kind = iota
	upper
	lower
	digit
	space
	foreign // part of a rune beyond ASCII
)

// kinds maps each byte to its kind.
var kinds = func() (k [256]kind) {
	for b := range k {
		switch {
		case b >= 'A' && b <= 'Z':
			k[b] = upper
		case b >= 'a' && b <= 'z':
			k[b] = lower
		case b >= '0' && b <= '9':
			k[b] = digit
		case b == ' ' || b >= '\t' && b <= '\r':
			k[b] = space
		case b >= 0x80:
			k[b] = foreign
		}
	}
	return k
}()

// Weights of pieces of text, in hundredths of a token. The weights of ASCII pieces are means over the tool
// definitions of five servers, counted with o200k_base: GitLab, Notion, AntV's charts, Firecrawl and Kubernetes.
const (
	hundredths = 100

	mark    = 43 // each mark in a run of more than four
	letter  = 25 // each letter beyond longest in a word
	longest = 16

	ofTwoBytes   = 30 // a rune of another alphabet: accented Latin, Cyrillic, Greek, Arabic
	ofThreeBytes = 70 // Chinese, Japanese, Korean and symbols
	ofFourBytes  = 200
)

var (
	// words holds the weights of words that stand alone or after a space, by their number of letters.
	words = [longest + 1]int{1: 100, 100, 100, 100, 102, 102, 102, 106, 106, 106, 106, 113, 113, 113, 113, 113}
	// marked holds the weights of words after a mark such as _ or /, by their number of letters. The weight includes the
	// mark.
	marked = [longest + 1]int{1: 109, 109, 109, 109, 133, 133, 133, 186, 186, 186, 186, 236, 236, 236, 236, 236}
	// marks holds the weights of runs of marks, by their length. A space before the run is part of it.
	marks = [...]int{1: 100, 100, 102, 125}
)

// EstimateTokens estimates the number of o200k_base tokens in a JSON text that is mostly English. It does not allocate
// and reads the text once.
//
// EstimateTokens splits the text as the tokenizer does before the tokenizer uses its vocabulary. A word is a run of
// letters that has capitals only at the start, with one space or one mark before it. Up to three digits form a piece,
// and so does a run of marks.
func EstimateTokens(text []byte) int {
	sum := 0
	for i := 0; i < len(text); {
		begin := i
		switch k := kinds[text[i]]; {
		case k == digit:
			i = past(text[:min(len(text), i+3)], i, digit)
			sum += hundredths
		case k == foreign:
			i++
			sum += ofRune(text[begin])
		case isLetter(k):
			i = pastWord(text, i)
			sum += ofWord(&words, i-begin)
		case isLetter(after(text, i)):
			if i = pastWord(text, i+1); k == space {
				sum += ofWord(&words, i-begin-1)
			} else {
				sum += ofWord(&marked, i-begin-1)
			}
		case k == space && (text[i] != ' ' || after(text, i) != punctuation):
			i = past(text, i, space)
			sum += hundredths
		default: // a run of marks, perhaps after a space
			i = past(text, i+1, punctuation)
			sum += ofMarks(i - begin)
		}
	}
	return (sum + hundredths/2) / hundredths
}

func isLetter(k kind) bool { return k == upper || k == lower }

// after returns the kind of the byte at i+1. At the end of the text, it returns space.
func after(text []byte, i int) kind {
	if i+1 == len(text) {
		return space
	}
	return kinds[text[i+1]]
}

// past returns the end of the run of bytes of kind k that starts at i.
func past(text []byte, i int, k kind) int {
	for i < len(text) && kinds[text[i]] == k {
		i++
	}
	return i
}

func pastWord(text []byte, i int) int { return past(text, past(text, i, upper), lower) }

func ofWord(of *[longest + 1]int, letters int) int {
	if letters > longest {
		return of[longest] + (letters-longest)*letter
	}
	return of[letters]
}

func ofMarks(n int) int {
	if n < len(marks) {
		return marks[n]
	}
	return n * mark
}

// ofRune returns the weight of the rune that starts with this byte, or 0 for a byte inside a rune.
func ofRune(first byte) int {
	switch {
	case first < 0xC0:
		return 0
	case first < 0xE0:
		return ofTwoBytes
	case first < 0xF0:
		return ofThreeBytes
	}
	return ofFourBytes
}
