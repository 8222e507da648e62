package mcpclient_test

import (
	"context"
	"fmt"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func ExampleGroup() {
	ctx := context.Background()
	group, err := mcpclient.NewGroup([]mcpclient.Member{
		{Name: "weather", Transport: weatherServer()},
		{Name: "missing", Transport: transport.Stdio{Command: "./no-such-server"}},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer group.Close()

	_ = group.WaitForReady(ctx) // the error names the members that are not ready
	for tool, err := range group.Tools(ctx) {
		if err != nil {
			fmt.Println("not there: a server") // the error names the server and the reason
			continue
		}
		fmt.Println(tool.Name, "of", tool.Member)
	}
	result, err := group.CallTool(ctx, "weather_weather", query{City: "Oslo"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text())
	// Output:
	// weather_weather of weather
	// not there: a server
	// {"sky":"clear","celsius":21}
}
