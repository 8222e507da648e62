package mcpserver

import (
	"fmt"

	"github.com/mcpotel/mcpotel/internal/server/tasks"
	"github.com/mcpotel/mcpotel/mcp"
)

// taskClient returns the client of the call, as far as tasks depend on it.
func (c *call) taskClient() tasks.Client {
	return tasks.Client{Principal: c.x.client.principal, Version: c.info.Version}
}

// declares reports whether the client has declared an extension, with this request.
func (c *call) declares(extension string) bool {
	if c.info.Version.Era() != mcp.Modern {
		return false
	}
	declared := c.info.from.declared()
	return declared.Extensions[extension] != nil
}

// missingExtension refuses a request for which the client has to declare an extension.
func missingExtension(name string) error {
	need := mcp.ClientCapabilities{Extensions: map[string]mcp.Object{name: mcp.Object("{}")}}
	return missingCapability(need, fmt.Errorf("the client has not declared the extension %s", name))
}

// legacyTasks reports whether the server has declared tasks of 2025-11-25 to the client. To a client without a session,
// it declares them whenever the client asks.
func (c *call) legacyTasks() bool {
	agreed := c.info.from.agreed
	if c.info.Version != mcp.Version20251125 || agreed == nil || !c.x.s.tasks.offered.Load() {
		return false
	}
	return c.x.conn == nil || agreed.declared.Tasks.Allows(mcp.MethodCallTool)
}

// wantsTask reports whether a call asks for a task of 2025-11-25. The wish of a client is ignored if the server has not
// declared them. (specification 2025-11-25, basic/utilities/tasks, "Task Support and Handling")
func (c *call) wantsTask() bool { return c.task != nil && c.legacyTasks() }

// legacyTask returns the wish of a call for a task of 2025-11-25, nil for none.
func (c *call) legacyTask() (*tasks.Legacy, error) {
	if !c.wantsTask() {
		return nil, nil
	}
	var wish mcp.TaskMetadata
	if err := decodeCopy(c.task, &wish); err != nil {
		return nil, invalidParams("params.task: %w", err)
	}
	if wish.TTL != nil && *wish.TTL < 0 {
		return nil, invalidParams("params.task.ttl is negative")
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

// refuseTask refuses to make a task of a call.
// (specification 2025-11-25, basic/utilities/tasks, "Tool-Level Negotiation")
func (c *call) refuseTask(t *tool) error {
	return refusal(mcp.CodeMethodNotFound, "the tool %s does not run as a task", t.Name)
}

// refuseWithoutTask refuses a call that is answered by a task only.
// (tasks extension, "Capability Negotiation"; 2025-11-25, basic/utilities/tasks, "Tool-Level Negotiation")
func (c *call) refuseWithoutTask(t *tool) error {
	if c.info.Version.Era() == mcp.Modern {
		return missingExtension(mcp.ExtensionTasks)
	}
	return refusal(mcp.CodeMethodNotFound, "the tool %s runs as a task only", t.Name)
}
