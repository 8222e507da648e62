package mirror

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var (
	text1   = Param{"Mcp-Param-Region", []string{"region"}, "string"}
	count   = Param{"Mcp-Param-Count", []string{"count"}, "integer"}
	flag    = Param{"Mcp-Param-Flag", []string{"flag"}, "boolean"}
	deep    = Param{"Mcp-Param-Deep", []string{"a", "b"}, "string"}
	deeper  = Param{"Mcp-Param-Deeper", []string{"a", "c", "b"}, "string"}
	odd     = Param{"Mcp-Param-Odd", []string{"é\n"}, "string"}
	several = []Param{text1, count, flag, deep, deeper, odd}
)

func TestValuesAreReadAtTheirPaths(t *testing.T) {
	for name, test := range map[string]struct {
		arguments string
		want      map[string]string
	}{
		"nothing":              {``, nil},
		"null":                 {`null`, nil},
		"an empty object":      {`{}`, nil},
		"no object":            {`["region"]`, nil},
		"a string":             {`{"region":"us-west1","query":"SELECT"}`, map[string]string{"Region": "us-west1"}},
		"an empty string":      {`{"region":""}`, map[string]string{"Region": ""}},
		"escapes":              {`{"r\u0065gion":"\u00e9\n\ud83d\ude00"}`, map[string]string{"Region": "é\n😀"}},
		"half a surrogate":     {`{"region":"\ud83d"}`, map[string]string{"Region": "\uFFFD"}},
		"true and false":       {`{"flag":true}`, map[string]string{"Flag": "true"}},
		"false":                {`{"flag":false}`, map[string]string{"Flag": "false"}},
		"an integer":           {`{"count":42}`, map[string]string{"Count": "42"}},
		"a negative one":       {`{"count":-7}`, map[string]string{"Count": "-7"}},
		"one with a fraction":  {`{"count":42.0}`, map[string]string{"Count": "42"}},
		"one with an exponent": {`{"count":4.20e1}`, map[string]string{"Count": "42"}},
		"null is left out":     {`{"region":null,"count":1}`, map[string]string{"Count": "1"}},
		"all": {` {"count":1, "a":{"c":{"b":"y"},"b":"x"}, "é\n":"z", "flag":true, "region":"r"} `,
			map[string]string{"Region": "r", "Count": "1", "Flag": "true", "Deep": "x", "Deeper": "y", "Odd": "z"}},
		"the way is cut off":   {`{"a":null}`, nil},
		"the way is no object": {`{"a":[{"b":"x"}]}`, nil},
		"other case":           {`{"Region":"x","REGION":"y"}`, nil},
		"same name elsewhere":  {`{"a":{"region":"x"},"b":"y"}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Values(several, []byte(test.arguments))
			if err != nil {
				t.Fatalf("Values: got error %v, want none", err)
			}
			var want []Value
			for _, p := range several {
				if v, ok := test.want[strings.TrimPrefix(p.Header, HeaderPrefix)]; ok {
					want = append(want, Value{p.Header, v})
				}
			}
			if len(got)+len(want) > 0 && !cmp.Equal(want, got) {
				t.Errorf("Values differ (-want +got):\n%s", cmp.Diff(want, got))
			}
		})
	}
}

func TestArgumentsThatCannotBeMirroredAreErrors(t *testing.T) {
	for name, test := range map[string]struct{ arguments, want string }{
		"string for integer":    {`{"count":"1"}`, "must be an integer"},
		"integer for string":    {`{"region":1}`, "must be a string"},
		"object for string":     {`{"region":{}}`, "must be a string"},
		"array for string":      {`{"region":["x"]}`, "must be a string"},
		"boolean for string":    {`{"a":{"b":true}}`, `argument "a.b"`},
		"string for boolean":    {`{"flag":"true"}`, "must be true or false"},
		"fraction":              {`{"count":1.5}`, "must be an integer"},
		"too large":             {`{"count":9007199254740992}`, "within"},
		"too small":             {`{"count":-9007199254740992}`, "within"},
		"large and odd":         {`{"count":9007199254740991.4}`, "must be an integer"},
		"very large":            {`{"count":1e400}`, "within"},
		"name twice":            {`{"region":"x","region":"x"}`, "occurs twice"},
		"name twice, once null": {`{"region":null,"region":"x"}`, "occurs twice"},
		"name twice, escaped":   {`{"region":"x","r\u0065gion":"y"}`, "occurs twice"},
		"way twice":             {`{"a":{"b":"x"},"a":{"c":{"b":"x"}}}`, "occurs twice"},
		"not JSON":              {`{"region":"x"`, ""},
		"more than one value":   {`{"region":"x"}{}`, ""},
		"not UTF-8":             {"{\"region\":\"\xff\"}", "UTF-8"},
		"too long":              {`{"region":"` + strings.Repeat("x", MaxValues+1) + `"}`, "more than 1048576 bytes"},
		"too long together":     {`{"é\n":"x","region":"` + strings.Repeat("x", MaxValues) + `"}`, "more than 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Values(several, []byte(test.arguments))
			if err == nil || got != nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Values: got %.100v, error %v; want no values and an error with %q", got, err, test.want)
			}
		})
	}
}

func TestErrorsOmitArgumentValues(t *testing.T) {
	for _, arguments := range []string{`{"count":"secret"}`, `{"region":["secret"]}`,
		`{"region":"secret","region":"secret"}`} {
		if _, err := Values(several, []byte(arguments)); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("Values(%s): got error %v, want one without the value", arguments, err)
		}
	}
}

func TestIntegersAreConvertedExactly(t *testing.T) {
	for number, want := range map[string]string{
		"0": "0", "-0": "0", "0.0": "0", "-0.0e5": "0", "0e99999999999999999999": "0", "1": "1", "-1": "-1",
		"1e0": "1", "10e-1": "1", "1.50e1": "15", "0.0042e4": "42", "0.5e1": "5", "9007199254740991": "9007199254740991",
		"-9007199254740991": "-9007199254740991", "9007199254740991.000": "9007199254740991",
		"9.007199254740991e15": "9007199254740991",
		"9007199254740992":     "", "9007199254740991.4": "", "9.0071992547409915e15": "", "9.1e15": "", "1e16": "",
		"1e15": "1000000000000000",
		"0.1":  "", "1e-1": "", "1e99999999999999999999": "", "1e-99999999999999999999": "", "1E+2": "100",
		"": "", "-": "", "+1": "", "01": "", "1.": "", ".5": "", "0x10": "", "1 ": "", " 1": "", "1_000": "", "NaN": "",
		"٤": "", "null": "", "[]": "",
	} {
		got, ok := integer(number)
		if !ok {
			got = ""
		}
		if got != want {
			t.Errorf("integer(%q): got %q, want %q", number, got, want)
		}
	}
}

// TestIntegersAgreeWithArbitraryPrecision compares with math/big.
func TestIntegersAgreeWithArbitraryPrecision(t *testing.T) {
	limit := big.NewRat(maxInteger, 1)
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,18})(\.[0-9]{1,6}|\.0{1,6})?([eE][+-]?[0-9]{1,2})?`).
			Draw(t, "number")
		exact, ok := new(big.Rat).SetString(number)
		if !ok {
			t.Fatalf("math/big does not read %q", number)
		}
		want := ""
		if exact.IsInt() && new(big.Rat).Abs(exact).Cmp(limit) <= 0 {
			want = exact.Num().String()
		}
		if got, ok := integer(number); ok != (want != "") || ok && got != want {
			t.Errorf("integer(%q): got %q, %v; want %q", number, got, ok, want)
		}
	})
}

func TestEqualComparesIntegersByValueAndTheRestByText(t *testing.T) {
	for _, test := range []struct {
		p            Param
		header, body string
		want         bool
	}{
		{count, "42", "42", true}, {count, "42.0", "42", true}, {count, "4.2e1", "42", true}, {count, "43", "42", false},
		{count, "", "0", false}, {count, "x", "x", false}, {count, "9007199254740993", "9007199254740992", false},
		{count, " 42", "42", false}, {count, "042", "42", false}, {count, "-0", "0", true},
		{text1, "42.0", "42", false}, {text1, "a", "a", true}, {text1, "A", "a", false}, {text1, "", "", true},
		{flag, "true", "true", true}, {flag, "True", "true", false}, {flag, "1", "true", false},
	} {
		if got := Equal(test.p, test.header, test.body); got != test.want {
			t.Errorf("Equal(%s, %q, %q): got %v, want %v", test.p.Type, test.header, test.body, got, test.want)
		}
	}
}

// TestClientAndServerReadTheSameValues simulates a call: the server reads the same values in the body as the client
// sends in the headers.
func TestClientAndServerReadTheSameValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		arguments := map[string]any{
			"region": text.Draw(t, "region"),
			"count": json.Number(strconv.FormatInt(rapid.Int64Range(-maxInteger, maxInteger).Draw(t, "count"), 10) +
				rapid.SampledFrom([]string{"", ".0", "e0"}).Draw(t, "form")),
			"flag": rapid.Bool().Draw(t, "flag"),
			"a":    map[string]any{"b": text.Draw(t, "b"), "c": nil},
		}
		body, err := json.Marshal(arguments)
		if err != nil {
			t.Fatal(err)
		}
		headers, err := Values(several, body)
		if err != nil || len(headers) != 4 {
			t.Fatalf("Values(%s): got %v, error %v; want four", body, headers, err)
		}
		for n, p := range []Param{text1, count, flag, deep} {
			said, err := Decode(Encode(headers[n].Value))
			if err != nil || headers[n].Header != p.Header || !Equal(p, said, headers[n].Value) {
				t.Errorf("header %s: got %q of %q, error %v; want it equal to the body's", p.Header, said, headers[n].Value, err)
			}
		}
	})
}

func TestManyLargeArgumentsAreReadOnce(t *testing.T) {
	var params []Param
	var body strings.Builder
	body.WriteString(`{"big":[` + strings.Repeat("1,", 1<<19) + `1]`)
	for n := range MaxParams {
		params = append(params, Param{fmt.Sprint(HeaderPrefix, n), []string{fmt.Sprint("p", n)}, "integer"})
		fmt.Fprintf(&body, `,"p%d":%d`, n, n)
	}
	body.WriteByte('}')
	values, err := Values(params, []byte(body.String()))
	if err != nil || len(values) != MaxParams || values[MaxParams-1].Value != "63" {
		t.Errorf("Values of %d parameters: got %d, error %v; want all", MaxParams, len(values), err)
	}
}

func FuzzValues(f *testing.F) {
	f.Add([]byte(`{"region":"x","count":1.0,"flag":true,"a":{"b":"x","c":{"b":null}}}`))
	f.Add([]byte(`{"region":"x","region":"y"}`))
	f.Add([]byte(`{"count":1e999}`))
	f.Fuzz(func(t *testing.T, arguments []byte) {
		values, err := Values(several, arguments)
		if err != nil {
			return
		}
		var oracle map[string]any
		if len(arguments) == 0 || json.Unmarshal(arguments, &oracle) != nil {
			return // values other than objects have no headers
		}
		for _, v := range values {
			if v.Header != text1.Header {
				continue
			}
			if want, ok := oracle["region"].(string); !ok || want != v.Value {
				t.Errorf("Values(%q): got region %q, want %q as encoding/json reads it", arguments, v.Value, oracle["region"])
			}
		}
	})
}

func BenchmarkParams(b *testing.B) {
	schema := []byte(with(`"region":` + marked("string", "Region") +
		`,"query":{"type":"string","description":"The SQL query to execute"}`))
	b.ReportAllocs()
	for b.Loop() {
		Params(schema)
	}
}

func BenchmarkValues(b *testing.B) {
	params, arguments := []Param{text1}, []byte(`{"query":"SELECT * FROM users","region":"us-west1"}`)
	b.ReportAllocs()
	for b.Loop() {
		Values(params, arguments)
	}
}
