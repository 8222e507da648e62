package mirror

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// encodings are the examples of the specification and of the proposal behind it (SEP-2243), and values near their
// edges.
var encodings = []struct{ value, header string }{
	{"us-west1", "us-west1"},
	{"Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="},
	{" padded ", "=?base64?IHBhZGRlZCA=?="},
	{"line1\nline2", "=?base64?bGluZTEKbGluZTI=?="},
	{"=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="},
	{" us-west1", "=?base64?IHVzLXdlc3Qx?="},
	{"us-west1 ", "=?base64?dXMtd2VzdDEg?="},
	{" us-west1 ", "=?base64?IHVzLXdlc3QxIA==?="},
	{"us west 1", "us west 1"},
	{"日本語", "=?base64?5pel5pys6Kqe?="},
	{"line1\r\nline2", "=?base64?bGluZTENCmxpbmUy?="},
	{"\tindented", "=?base64?CWluZGVudGVk?="},
	{"", ""},
	{"file:///path/to/file%20name.txt", "file:///path/to/file%20name.txt"},
	{"https://example.com/resource?id=123", "https://example.com/resource?id=123"},
	{"a\tb", "a\tb"},
	{"a\t", "=?base64?YQk=?="},
	{" ", "=?base64?IA==?="},
	{"\x7f", "=?base64?fw==?="},
	{"\x00", "=?base64?AA==?="},
	{"~!", "~!"},
	{"=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="},
	{"=?base64??=", "=?base64?PT9iYXNlNjQ/Pz0=?="},
	{"=?base64?SGVsbG8=", "=?base64?SGVsbG8="},
	{"SGVsbG8=?=", "SGVsbG8=?="},
	{"=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?="},
}

func TestEncodingFollowsTheSpecification(t *testing.T) {
	for _, test := range encodings {
		if got := Encode(test.value); got != test.header {
			t.Errorf("Encode(%q): got %q, want %q", test.value, got, test.header)
		}
		if got, err := Decode(test.header); err != nil || got != test.value {
			t.Errorf("Decode(%q): got %q, error %v; want %q", test.header, got, err, test.value)
		}
	}
}

func TestInvalidUTF8IsReplacedAsInTheBody(t *testing.T) {
	if got, want := Encode("a\xff\xfeb"), Encode("a\uFFFD\uFFFDb"); got != want {
		t.Errorf("Encode of two invalid bytes: got %q, want %q, one U+FFFD for each", got, want)
	}
}

func TestInvalidHeadersAreRefused(t *testing.T) {
	for name, header := range map[string]string{
		"padding missing":           "=?base64?SGVsbG8?=",
		"characters not base64":     "=?base64?SGVs!!!bG8=?=",
		"URL alphabet":              "=?base64?-_-_?=",
		"bits behind the end":       "=?base64?SGVsbG9=?=",
		"line break in the base64":  "=?base64?SGVs\r\nbG8=?=",
		"not UTF-8":                 "=?base64?/w==?=",
		"marks overlap":             "=?base64?=",
		"not ASCII":                 "é",
		"control character":         "a\x01b",
		"line break":                "a\nEvil: 1",
		"DEL":                       "a\x7f",
		"blank around it":           " a",
		"tab around it":             "a\t",
		"not ASCII among the marks": "=?base64?é?=",
	} {
		if got, err := Decode(header); err == nil {
			t.Errorf("%s: Decode(%q): got %q and no error, want one", name, header, got)
		}
	}
}

func TestDecodeErrorsAreShort(t *testing.T) {
	if _, err := Decode("\n" + strings.Repeat("é", 100_000)); err == nil || len(err.Error()) > 512 ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("got %.600v, want an error text of one line and at most 512 bytes", err)
	}
}

// text generates strings, many of them near the edges of the encoding.
var text = rapid.OneOf(
	rapid.String(),
	rapid.StringMatching(`[ -~]*`),
	rapid.StringMatching(`(=\?base64\?)?[ -~]{0,12}(\?=)?`),
	rapid.StringMatching(`[ \t]?[!-~]*[ \t]?`),
)

func TestDecodeUndoesEncode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := text.Draw(t, "value")
		header := Encode(value)
		if got, err := Decode(header); err != nil || got != value {
			t.Errorf("Decode(Encode(%q)) = Decode(%q): got %q, error %v; want it back", value, header, got, err)
		}
	})
}

func TestEncodedValuesPassThroughHTTP(t *testing.T) {
	var arrived []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		arrived = append(arrived, r.Header.Get("Mcp-Param-Text"))
		if len(r.Header["Evil"]) != 0 {
			t.Errorf("header Evil: got %q, want none", r.Header["Evil"])
		}
	}))
	defer server.Close()
	values := []string{"x\r\nEvil: 1", "\n", "\x00"}
	for _, e := range encodings {
		values = append(values, e.value)
	}
	for _, value := range values {
		request, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
		request.Header.Set("Mcp-Param-Text", Encode(value))
		response, err := server.Client().Do(request)
		if err != nil {
			t.Fatalf("request with %q: %v", value, err)
		}
		response.Body.Close()
		if got, err := Decode(arrived[len(arrived)-1]); err != nil || got != value {
			t.Errorf("value on the server's side: got %q, error %v; want %q", got, err, value)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, e := range encodings {
		f.Add(e.header)
	}
	f.Add("=?base64?=")
	f.Fuzz(func(t *testing.T, header string) {
		value, err := Decode(header)
		if err != nil {
			return
		}
		if again, err := Decode(Encode(value)); err != nil || again != value {
			t.Errorf("Decode(%q) = %q does not survive another round: got %q, error %v", header, value, again, err)
		}
	})
}
