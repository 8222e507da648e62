// Command survivor is a host on the Go SDK with a server that dies repeatedly: it calls a tool that kills the server,
// and another tool immediately afterwards. It prints as one line of JSON how many of the latter calls failed, and
// whether the connection was closed.
//
//	survivor KILLS COMMAND [ARG...]
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type outcome struct {
	Survived int      `json:"survived"`
	Failed   []string `json:"failed"`
	Closed   bool     `json:"closed"`
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	kills, err := strconv.Atoi(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, os.Args[2], os.Args[3:]...)
	cmd.Stderr = os.Stderr
	s, err := mcp.NewClient(&mcp.Implementation{Name: "survivor", Version: "1"}, nil).
		Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		log.Fatal(err)
	}
	closed := make(chan struct{})
	go func() {
		_ = s.Wait()
		close(closed)
	}()
	o := outcome{Failed: []string{}}
	for range kills {
		if _, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "crash"}); err == nil {
			o.Failed = append(o.Failed, "crash succeeded")
		}
		r, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "forecast", Arguments: map[string]any{"city": "Oslo"}})
		switch {
		case err != nil:
			o.Failed = append(o.Failed, err.Error())
		case r.IsError:
			o.Failed = append(o.Failed, fmt.Sprint(r.Content))
		default:
			o.Survived++
		}
	}
	select {
	case <-closed:
		o.Closed = true
	default:
	}
	if err := json.NewEncoder(os.Stdout).Encode(o); err != nil {
		log.Fatal(err)
	}
	_ = s.Close()
}
