// Command ours connects to the server at its argument, makes a call and ends.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func main() {
	if err := run(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, url string) error {
	c, err := mcpclient.Connect(ctx, &transport.HTTP{URL: url}, nil)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.CallTool(ctx, "tiny", map[string]any{"text": "hello, world"})
	return err
}
