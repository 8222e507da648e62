package mcpserver

import (
	"errors"
	"fmt"
	"testing"

	"github.com/mcpotel/mcpotel/internal/server/engine"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

func TestErrorCodesAreMappedPerRevision(t *testing.T) {
	kept := map[int64]bool{mcp.CodeHeaderMismatch: true, mcp.CodeMissingClientCapability: true,
		mcp.CodeUnsupportedVersion: true}
	for _, v := range mcp.SupportedVersions() {
		for code := int64(-32800); code < 100; code++ {
			want := code
			if v.Era() == mcp.Modern && code <= -32000 && code >= -32099 && !kept[code] {
				want = mcp.CodeInternalError
			}
			if v.Era() == mcp.Modern && code == mcp.CodeResourceNotFound {
				want = mcp.CodeInvalidParams
			}
			if got := codeIn(v, code); got != want {
				t.Errorf("%s: %d becomes %d, want %d", v, code, got, want)
			}
		}
	}
}

func TestDisallowedErrorCodeIsLoggedButNotSent(t *testing.T) {
	cause := fmt.Errorf("handler: %w", &mcp.Error{Code: -32050, Message: "no such row", Data: []byte(`{"row":1}`)})
	err := allowed(mcp.Version20260728, cause)
	if e := rpc.WireError(err); e.Code != mcp.CodeInternalError || e.Message != "no such row" ||
		string(e.Data) != `{"row":1}` {
		t.Errorf("the client gets %+v, want the same with another code", e)
	}
	const want = "handler: no such row (-32050), which 2026-07-28 does not allow: the client gets -32603"
	if err.Error() != want || !errors.Is(err, cause) {
		t.Errorf("the log gets %q, want %q", err, want)
	}
	if err := allowed(mcp.Version20251125, cause); err != cause {
		t.Errorf("a client of 2025-11-25 gets %v, want %v", err, cause)
	}
}

func TestNullIDIsSentOnlyToOldClients(t *testing.T) {
	for _, test := range []struct {
		speaks []mcp.Version
		agreed mcp.Version // empty before the revision is negotiated
		want   bool
	}{
		{mcp.SupportedVersions(), "", false},
		{mcp.SupportedVersions(), mcp.Version20251125, false},
		{mcp.SupportedVersions(), mcp.Version20250618, true},
		{mcp.SupportedVersions(), mcp.Version20241105, true},
		{[]mcp.Version{mcp.Version20260728}, "", false},
		{[]mcp.Version{mcp.Version20251125}, "", false},
		{[]mcp.Version{mcp.Version20250618, mcp.Version20241105}, "", true},
	} {
		s := New(mcp.Implementation{Name: "test", Version: "1"}, &Options{Versions: test.speaks})
		of := new(engine.Terms)
		if test.agreed != "" {
			of.Agreed.Store(&engine.Agreement{Version: test.agreed})
		}
		x := &exchange{Exchange: engine.Exchange{Terms: of}}
		x.Server, x.Engine = x, &rpc.Engine{NullID: s.engine.NullID()}
		if got := x.WantsNull(); got != test.want {
			t.Errorf("%v, agreed on %q: got %v, want %v", test.speaks, test.agreed, got, test.want)
		}
	}
}
