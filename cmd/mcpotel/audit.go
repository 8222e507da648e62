package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/internal/auditlog"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/audit"
)

// auditFlags are the flags of the audit log.
type auditFlags struct{ path, key string }

func (a *auditFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&a.path, "audit", "", "append a record of each call of a tool to this `FILE`, for \"mcpotel audit "+
		"verify\", and export the record as a log record: who called which tool, a hash of the arguments, and whether the "+
		"tool ran, did not run, or may have run")
	f.StringVar(&a.key, "audit-key", "", "hash the arguments with the key in this `FILE`, of at least 16 bytes. Without "+
		"--audit, the records are only exported")
}

// maxKey bounds the size of a key file, in bytes.
const maxKey = 4 << 10

// open opens the log; nil without flags.
func (a *auditFlags) open() (*audit.Log, error) {
	switch {
	case a.path == "" && a.key == "":
		return nil, nil
	case a.key == "":
		return nil, misuse("--audit needs a key for the hashes of arguments: create one with \"openssl rand -hex 32\", and " +
			"give its file with --audit-key FILE")
	}
	f, err := os.Open(a.key)
	if err != nil {
		return nil, misuse("--audit-key: %w", err)
	}
	key, err := io.ReadAll(io.LimitReader(f, maxKey+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, misuse("--audit-key: %w", err)
	}
	if len(key) > maxKey {
		return nil, misuse("--audit-key: %s is larger than 4 KiB", a.key)
	}
	key = bytes.TrimSuffix(bytes.TrimSuffix(key, []byte("\n")), []byte("\r"))
	log, err := audit.Open(a.path, key)
	if err != nil {
		return nil, misuse("%s", strings.TrimPrefix(err.Error(), "audit: "))
	}
	return log, nil
}

func newAudit(s streams) *cobra.Command {
	const want = "audit: want verify"
	cmd := &cobra.Command{
		Use: "audit verify [flags] FILE", Short: "verify an audit file",
		Example: "mcpotel audit verify audit.jsonl",
		Args:    cobra.ArbitraryArgs,
		RunE:    func(*cobra.Command, []string) error { return misuse(want) },
	}
	var heads []string
	verify := &cobra.Command{
		Use: "verify [flags] FILE", Short: "check that no record of an audit file was changed or removed",
		Long: "The lines of an audit file form a chain of hashes. Each record was also exported as a log record with the\n" +
			"head of the chain at that time, a sequence number and a hash. With --head, the command finds out whether\n" +
			"lines were removed at the end of the file, or whether the whole file was replaced. The exit code is 1 if\n" +
			"the chain is broken.",
		Example: "mcpotel audit verify audit.jsonl\n" +
			"mcpotel audit verify --head 42:9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab audit.jsonl",
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error { return verifyAudit(s, args, heads) },
	}
	verify.Flags().StringArrayVar(&heads, "head", nil, "require the record with this `SEQUENCE:HASH`: audit.sequence and "+
		"audit.hash of an exported log record, usually the latest; may be repeated")
	cmd.AddCommand(verify)
	return cmd
}

// verifyAudit verifies a file, and prints one line.
func verifyAudit(s streams, args, heads []string) error {
	if len(args) != 1 {
		return misuse("want the path of one audit file, got %d arguments", len(args))
	}
	var known []auditlog.Head
	for _, text := range heads {
		h, err := auditlog.ParseHead(text)
		if err != nil {
			return misuse("%w", err)
		}
		known = append(known, h)
	}
	f, err := os.Open(args[0])
	if err != nil {
		return misuse("%w", err)
	}
	defer f.Close()
	r, err := auditlog.Verify(f, known...)
	if broken, ok := errors.AsType[*auditlog.BrokenError](err); ok {
		if err := printLine(s.out, "broken: "+broken.Error()); err != nil {
			return err
		}
		return &exitError{code: exitTool}
	}
	if err != nil {
		return misuse("%w", err)
	}
	return printLine(s.out, describeAudit(r, len(known) > 0))
}

// describeAudit describes an unbroken chain.
func describeAudit(r auditlog.Report, headed bool) string {
	if r.Head.Sequence == 0 && r.Torn == 0 {
		return "unbroken: the file is empty"
	}
	var text strings.Builder
	text.WriteString(fmt.Sprintf("unbroken: calls: %d, from %s to %s, head %v", r.Calls, r.First.Format(time.RFC3339),
		r.Last.Format(time.RFC3339), r.Head))
	for _, gap := range []struct {
		n    uint64
		text string
	}{
		{r.Lost, "records that could not be written: %d"},
		{r.Unclean, "processes that ended without closing the file, so that calls in flight may be missing: %d"},
		{uint64(r.Torn), "incomplete last line, of a running or crashed process, in bytes: %d"},
	} {
		if gap.n > 0 {
			text.WriteString("; " + fmt.Sprintf(gap.text, gap.n))
		}
	}
	if !headed {
		text.WriteString("; give an exported --head to detect removed lines at the end")
	}
	return text.String()
}
