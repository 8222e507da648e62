package skills_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/skills"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	served "github.com/mcpotel/mcpotel/mcpserver/skills"
)

func Example() {
	ctx := context.Background()
	server := newServer() // created with served.Capability()
	catalog, err := served.Serve(server)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = catalog.Add("acme/refunds", fstest.MapFS{ // usually the FS of an os.Root
		"SKILL.md": {Data: []byte(
			"---\nname: refunds\ndescription: Process refunds\n---\nWrite as in examples/email.md.")},
		"examples/email.md": {Data: []byte("Dear customer,")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := mcpclient.Connect(ctx,
		transport.InMemory(func(ctx context.Context, peer *transport.Peer) { _ = server.Serve(ctx, peer) }), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	for skill, err := range skills.List(ctx, client) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(skill.URI, "-", skill.Description())

		loaded, err := skills.Load(ctx, client, skill) // after a person has agreed to use the skill
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(loaded.Text)
		mail, err := loaded.Read(ctx, "examples/email.md")
		fmt.Println(string(mail), err)
	}
	// Output:
	// skill://acme/refunds/SKILL.md - Process refunds
	// Write as in examples/email.md.
	// Dear customer, <nil>
}
