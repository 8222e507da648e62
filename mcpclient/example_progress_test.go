package mcpclient_test

import (
	"context"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// indexServer is a server with a slow tool, which reports its progress after each chapter.
func indexServer(chapters int, each time.Duration) transport.Transport {
	s := mcpserver.New(mcp.Implementation{Name: "index", Version: "1.0"}, nil)
	err := mcpserver.AddTool(s, &mcp.Tool{Name: "index"}, func(ctx context.Context, _ struct{}) (string, error) {
		r := mcpserver.RequestFrom(ctx)
		tick := time.NewTicker(each)
		defer tick.Stop()
		for i := range chapters {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return "", ctx.Err()
			}
			if err := r.Progress(ctx, float64(i+1), float64(chapters), fmt.Sprintf("chapter %d", i+1)); err != nil {
				return "", err
			}
		}
		return "done", nil
	})
	if err != nil {
		panic(err)
	}
	return inMemory(s)
}

func ExampleFollowProgress() {
	ctx := context.Background()
	client, err := mcpclient.Connect(ctx, indexServer(4, 50*time.Millisecond), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	var result *mcp.CallToolResult
	for p, err := range mcpclient.FollowProgress(ctx, func(ctx context.Context, follow mcpclient.CallOption) (err error) {
		result, err = client.CallTool(ctx, "index", nil, follow)
		return err
	}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(p.Progress, "of", *p.Total, p.Message)
	}
	fmt.Println(result.Text())

	// Leaving the loop cancels the call.
	for p := range mcpclient.FollowProgress(ctx, func(ctx context.Context, follow mcpclient.CallOption) error {
		_, err := client.CallTool(ctx, "index", nil, follow)
		fmt.Println(err)
		return err
	}) {
		fmt.Println(p.Message, "is enough")
		break
	}
	// Output:
	// 1 of 4 chapter 1
	// 2 of 4 chapter 2
	// 3 of 4 chapter 3
	// 4 of 4 chapter 4
	// done
	// chapter 1 is enough
	// tools/call: cancelled by the caller: context canceled
}

func ExampleResetTimeoutOnProgress() {
	ctx := context.Background()
	client, err := mcpclient.Connect(ctx, indexServer(40, 20*time.Millisecond), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	short := mcpclient.WithTimeout(500 * time.Millisecond)
	_, err = client.CallTool(ctx, "index", nil, short)
	fmt.Println(err)

	// The tool reports progress more often than every half second, so the call does not time out.
	result, err := client.CallTool(ctx, "index", nil, short, mcpclient.ResetTimeoutOnProgress(time.Minute))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text())
	// Output:
	// tools/call: no answer within 500ms; raise the limit with WithTimeout or Options.RequestTimeout
	// done
}
