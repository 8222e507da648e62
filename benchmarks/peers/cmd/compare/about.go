package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// about returns the machine and the conditions of the measurement, as configuration lines of the benchmark format. It
// omits the owner of the machine.
func about(ctx context.Context, root string, p plan) string {
	return config(
		"go", runtime.Version(),
		"cores", fmt.Sprint(runtime.NumCPU()),
		"memory", memory(),
		"kernel", kernel(),
		"gomaxprocs", fmt.Sprint(runtime.GOMAXPROCS(0)),
		"gogc", orElse(os.Getenv("GOGC"), "100"),
		"commit", commit(ctx, root),
		"date", time.Now().UTC().Format(time.DateOnly),
		"passes", fmt.Sprint(p.passes),
		"benchtime", p.benchtime,
		"bench", p.bench,
	)
}

// config returns lines of keys and values, except those without a value.
func config(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			fmt.Fprintf(&b, "%s: %s\n", pairs[i], pairs[i+1])
		}
	}
	return b.String()
}

// commit returns the measured commit, and whether the work tree differs from it.
func commit(ctx context.Context, root string) string {
	git := func(args ...string) string {
		out, _ := exec.CommandContext(ctx, "git", append([]string{"-C", root}, args...)...).Output()
		return strings.TrimSpace(string(out))
	}
	id := git("rev-parse", "--short=12", "HEAD")
	if id != "" && git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!benchmarks/results") != "" {
		id += " and changes"
	}
	return id
}

// load returns the load average of the last minute; empty if the system does not provide it.
func load() string { return firstField("/proc/loadavg") }

// kernel returns the version of the kernel, without the name of its builder.
func kernel() string {
	version, _, _ := strings.Cut(firstField("/proc/sys/kernel/osrelease"), "-")
	return version
}

// memory returns the memory of the machine.
func memory() string {
	text, _ := os.ReadFile("/proc/meminfo")
	var kib float64
	if _, err := fmt.Sscanf(string(text), "MemTotal: %f kB", &kib); err != nil {
		return ""
	}
	return fmt.Sprintf("%.0f GiB", kib/(1<<20))
}

func firstField(file string) string {
	text, _ := os.ReadFile(file)
	first, _, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	return first
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
