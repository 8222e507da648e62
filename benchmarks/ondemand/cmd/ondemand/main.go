// Command ondemand prints the memory of the stdio servers of a file behind a gateway, for several hosts: with a process
// for each host and server, and on demand. It needs Linux.
//
//	go run ./benchmarks/ondemand/cmd/ondemand -hosts 5 -idle 2s mcp.json
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/mcpotel/mcpotel/benchmarks/ondemand"
	"github.com/mcpotel/mcpotel/mcpclient/config"
)

func main() {
	hosts := flag.Int("hosts", 5, "number of `hosts`")
	idle := flag.Duration("idle", 2*time.Second, "idle `time` after which a server stops")
	flag.Parse()
	if err := run(flag.Arg(0), *hosts, *idle); err != nil {
		fmt.Fprintln(os.Stderr, "ondemand:", err)
		os.Exit(1)
	}
}

func run(path string, hosts int, idle time.Duration) error {
	file, err := config.Load(path, nil)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "ondemand")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	members := file.Members(nil)
	rows, err := ondemand.Run(context.Background(), members, ondemand.Options{Hosts: hosts, Idle: idle, Dir: dir})
	if err != nil {
		return err
	}
	fmt.Printf("%d hosts, %d servers\n\n", hosts, len(members))
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "processes\tmemory\ttime\t\tstep\t")
	for _, r := range rows {
		fmt.Fprintf(w, "%d\t%.0f MiB\t%.1f s\t\t%s\t\n", r.Processes, float64(r.Memory)/(1<<20), r.Took.Seconds(), r.Step)
	}
	return w.Flush()
}
