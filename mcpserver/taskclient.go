package mcpserver

import (
	"fmt"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/server/tasks"
	"github.com/mcpotel/mcpotel/mcp"
)

// taskClient returns the properties of the client that tasks depend on.
func (c *call) taskClient() tasks.Client {
	return tasks.Client{Principal: c.x.Client.Principal, Version: c.info.Version}
}

// declares reports whether the client declares an extension with this request.
func (c *call) declares(extension string) bool {
	if c.info.Version.Era() != mcp.Modern {
		return false
	}
	declared := c.info.from.Declared()
	return declared.Extensions[extension] != nil
}

// missingExtension refuses a request because the client has not declared an extension.
func missingExtension(name string) error {
	need := mcp.ClientCapabilities{Extensions: map[string]mcp.Object{name: mcp.Object("{}")}}
	return missingCapability(need, fmt.Errorf("the client has not declared the extension %s", name))
}

// legacyTasks reports whether the server has declared tasks of 2025-11-25 to the client. A client without a session
// gets the declaration with each initialize.
func (c *call) legacyTasks() bool {
	agreed := c.info.from.Agreed
	if c.info.Version != mcp.Version20251125 || agreed == nil || !c.x.s.tasks.offered.Load() {
		return false
	}
	return c.x.conn == nil || agreed.Declared.Tasks.Allows(mcp.MethodCallTool)
}

// wantsTask reports whether a call requests a task of 2025-11-25. The server ignores that if it has not declared tasks.
// (specification 2025-11-25, basic/utilities/tasks, "Task Support and Handling")
func (c *call) wantsTask() bool { return c.task != nil && c.legacyTasks() }

// legacyTask returns the parameters of the task that a client of 2025-11-25 requests with a call, nil for none.
func (c *call) legacyTask() (*tasks.Legacy, error) {
	if !c.wantsTask() {
		return nil, nil
	}
	var wish mcp.TaskMetadata
	if err := given.Decode(c.task, &wish); err != nil {
		return nil, rpc.InvalidParams("params.task: %w", err)
	}
	if wish.TTL != nil && *wish.TTL < 0 {
		return nil, rpc.InvalidParams("params.task.ttl is negative")
	}
	l := &tasks.Legacy{TTL: wish.TTL, Answered: c.Context()}
	if c.progress != nil {
		l.Token = c.progress.token
	}
	if c.x.conn != nil {
		l.Session = c.x.conn
	}
	return l, nil
}

// refuseTask refuses a call that requests a task from a tool without tasks.
// (specification 2025-11-25, basic/utilities/tasks, "Tool-Level Negotiation")
func (c *call) refuseTask(t *tool) error {
	return rpc.Refusal(mcp.CodeMethodNotFound, "the tool %s does not run as a task", t.Name)
}

// refuseWithoutTask refuses a call without a task, because the tool runs only as a task.
// (tasks extension, "Capability Negotiation"; 2025-11-25, basic/utilities/tasks, "Tool-Level Negotiation")
func (c *call) refuseWithoutTask(t *tool) error {
	if c.info.Version.Era() == mcp.Modern {
		return missingExtension(mcp.ExtensionTasks)
	}
	return rpc.Refusal(mcp.CodeMethodNotFound, "the tool %s runs as a task only", t.Name)
}
