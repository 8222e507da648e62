package redisstore

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxKey is the documented maximum length of a key without its prefix (Options.Prefix).
const maxKey = 99

var kinds = []string{kindSession, kindEvents, kindStreams, kindProcess, kindMessages, kindPositions, kindTask,
	kindTaskList, kindTaskEnds, kindWrite}

// slot returns the cluster slot of a key. (Redis cluster specification, "Hash tags")
func slot(key string) uint16 {
	if _, behind, ok := strings.Cut(key, "{"); ok {
		if tag, _, ok := strings.Cut(behind, "}"); ok && tag != "" {
			key = tag
		}
	}
	return crc16(key) % 16384
}

// crc16 is CRC-16/XMODEM.
func crc16(s string) (crc uint16) {
	for i := range len(s) {
		crc ^= uint16(s[i]) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return crc
}

// strange returns ids that could break keys.
func strange() []string {
	ids := []string{
		"", "*", "{}", "{", "}", "}{", "}x{", "{a}", "a{b}c", "a}b", "}:{victim", "victim}:{x", "x}:events:{victim",
		"\x00", "a\x00b", "\r\n",
		"\r\nDEL x\r\n", "ä", "\u202e", "\xff\xfe", " ", ":", "events:{x}", strings.Repeat("a", 63), strings.Repeat("a", 64),
		strings.Repeat("}", 100), strings.Repeat("{", 1<<20), strings.Repeat("a", 1<<20), strings.Repeat("\x00", 1<<20),
	}
	for _, id := range ids { // the tags of the ids are also ids
		ids = append(ids, tag(id))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		id := make([]rune, r.IntN(80))
		for i := range id {
			id[i] = []rune("{}:*ab\x00\r\n0\U0001f600ö")[r.IntN(12)]
		}
		ids = append(ids, string(id))
	}
	return ids
}

func TestKeysHaveBoundedLengthAndShareSlotOfID(t *testing.T) {
	if got := crc16("123456789"); got != 0x31C3 {
		t.Fatalf("the check value of the checksum: want 0x31C3, got %#x", got)
	}
	for _, prefix := range []string{"mcp:", "{app}:", "a}b:", ""} {
		s := New(nil, &Options{Prefix: prefix})
		owner := map[string]string{} // id of each key
		for _, id := range strange() {
			want := slot(s.key(kindSession, id))
			for _, kind := range kinds {
				key := s.key(kind, id)
				rest := strings.TrimPrefix(key, s.cfg.Prefix)
				if len(rest) > maxKey {
					t.Errorf("key of %.40q: want %d bytes at most, got %d", id, maxKey, len(rest))
				}
				if strings.Count(rest, "{") != 1 || strings.Count(rest, "}") != 1 || strings.ContainsFunc(rest, func(r rune) bool {
					return r <= ' ' || r > '~'
				}) {
					t.Errorf("key of %.40q: want one pair of braces and no character that is not plain, got %q", id, key)
				}
				if got := slot(key); got != want {
					t.Errorf("slot of %q: want the slot of the id's other keys, %d, got %d", key, want, got)
				}
				if other, taken := owner[key]; taken && other != kind+id {
					t.Errorf("two ids have the key %q: %.40q and %.40q", key, other, kind+id)
				}
				owner[key] = kind + id
			}
			if key := s.writeKey(id); slot(key) != want || len(strings.TrimPrefix(key, s.cfg.Prefix)) > maxKey {
				t.Errorf("key of a write to %.40q: want it short, and in the slot of the id, got %q", id, key)
			}
		}
	}
}

func TestKeyContainsServerIDUnchanged(t *testing.T) {
	s := New(nil, nil)
	for _, id := range []string{"ABCDEFGHIJKLMNOPQRSTUVWXYZ", "a-b_c.9", strings.Repeat("a", 63)} {
		if got, want := s.key(kindTask, id), "mcp:task:{"+id+"}"; got != want {
			t.Errorf("want %s, got %s", want, got)
		}
	}
}

func TestPrefixWithInvalidHashTagIsRefused(t *testing.T) {
	for prefix, refused := range map[string]bool{
		"": false, "a:": false, "}": false, "{a}": false, "x{a}:": false, "{": true, "{}": true, "a{": true,
	} {
		func() {
			defer func() {
				if got := recover() != nil; got != refused {
					t.Errorf("prefix %q: want refused %v, got %v", prefix, refused, got)
				}
			}()
			New(nil, &Options{Prefix: prefix})
		}()
	}
}

// makers are the functions that return keys or channels.
var makers = map[string]bool{"key": true, "keys": true, "taskNews": true, "writeKey": true}

// TestKeysAreMadeOnlyByKeyFunctions checks the source code: every key argument of a Redis command comes from a maker,
// and scripts use only keys from KEYS.
func TestKeysAreMadeOnlyByKeyFunctions(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	calls, scripts := 0, 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			made := madeIn(decl)
			ast.Inspect(decl, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					if n.Sel.Name == "Prefix" && f.Name() != "key.go" && !isFunc(decl, "New") {
						t.Errorf("%s: uses the prefix: only the functions of key.go make keys", set.Position(n.Pos()))
					}
				case *ast.CallExpr:
					key := keyOf(n)
					if key == nil {
						return true
					}
					if calls++; !isMade(key, made) {
						t.Errorf("%s: a key that key has not made", set.Position(key.Pos()))
					}
				case *ast.BasicLit:
					if n.Kind == token.STRING && strings.Contains(n.Value, "redis.call(") {
						scripts++
						checkScript(t, set.Position(n.Pos()).String(), n.Value)
					}
				}
				return true
			})
		}
	}
	if calls < 15 || scripts < 8 {
		t.Errorf("want the commands and scripts of the package to be found, got %d and %d", calls, scripts)
	}
}

func isFunc(d ast.Decl, name string) bool {
	f, ok := d.(*ast.FuncDecl)
	return ok && f.Name.Name == name
}

// madeIn returns those variables of a declaration whose values come from makers.
func madeIn(d ast.Decl) map[string]bool {
	made := map[string]bool{}
	ast.Inspect(d, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == len(a.Rhs) {
			for i, to := range a.Lhs {
				if name, ok := to.(*ast.Ident); ok && isMade(a.Rhs[i], made) {
					made[name.Name] = true
				}
			}
		}
		return true
	})
	return made
}

// isMade reports whether a value comes from a maker, or consists only of such values.
func isMade(e ast.Expr, made map[string]bool) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return made[e.Name]
	case *ast.CallExpr:
		if of, ok := e.Fun.(*ast.Ident); ok && of.Name == "append" {
			return !slices.ContainsFunc(e.Args[1:], func(a ast.Expr) bool { return !isMade(a, made) })
		}
		f, ok := e.Fun.(*ast.SelectorExpr)
		return ok && makers[f.Sel.Name]
	case *ast.CompositeLit:
		for _, element := range e.Elts {
			if !isMade(element, made) {
				return false
			}
		}
		return len(e.Elts) > 0
	}
	return false
}

// keyOf returns the argument of a call that is a key or a list of keys, or nil.
func keyOf(call *ast.CallExpr) ast.Expr {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	switch of := f.X.(type) {
	case *ast.SelectorExpr:
		switch {
		case of.Sel.Name == "client" && f.Sel.Name != "Pipelined" && len(call.Args) > 1,
			of.Sel.Name == "notifier" && f.Sel.Name == "listen":
			return call.Args[1]
		}
	case *ast.Ident:
		switch {
		case of.Name == "s" && f.Sel.Name == "run" && len(call.Args) > 2:
			return call.Args[2]
		case of.Name == "s" && f.Sel.Name == "write":
			return call.Args[3]
		case of.Name == "p" && len(call.Args) > 1 && !strings.HasSuffix(strings.ToLower(f.Sel.Name), "subscribe"):
			// the method of the notifier
			return call.Args[1]
		}
	}
	return nil
}

var (
	commands = regexp.MustCompile(`redis\.call\('([A-Z]+)', ([^,)]+)`)
	fromKeys = regexp.MustCompile(`^KEYS\[\w+\]$`)
)

func checkScript(t *testing.T, where, script string) {
	for _, m := range commands.FindAllStringSubmatch(script, -1) {
		if !fromKeys.MatchString(m[2]) && m[1] != "PUBLISH" {
			t.Errorf("%s: %s: want a key from KEYS, got %s", where, m[1], m[2])
		}
	}
	read := len(commands.FindAllString(script, -1)) + strings.Count(script, "redis.call('TIME')")
	if n := strings.Count(script, "redis.call("); n != read {
		t.Errorf("%s: want each of %d commands to be read", where, n)
	}
}
