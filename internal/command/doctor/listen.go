package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/internal/unit"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// listenFacts are the findings about a subscription to all list changes that a server declares.
type listenFacts struct {
	filter  mcp.SubscriptionFilter // zero if no subscription was tried
	acked   bool
	took    time.Duration // time to the acknowledgement, or the time waited for it
	err     error         // why the subscription failed; nil while it is open
	pingErr error         // error of a ping after the subscription
}

// listen opens a subscription, sends a ping, and ends the subscription. It is the last step, because some servers
// stop answering after it.
func (e *examination) listen(ctx context.Context, c *mcpclient.Client) (l listenFacts) {
	if e.o.NoListening || !e.facts.modern() {
		return l
	}
	if l.filter = declaredChanges(&e.facts.session.capabilities); !l.tried() {
		return l
	}
	ctx, cancel := context.WithCancel(ctx)
	acked := make(chan struct{}, 1)
	defer c.Handle(mcpclient.HandleNotification(mcp.NotificationSubscriptionsAcknowledged,
		func(context.Context, *mcpclient.Notification) {
			select {
			case acked <- struct{}{}:
			default:
			}
		}))()
	ended := make(chan error, 1)
	go func() { // ends with ctx
		p := &mcp.SubscriptionsListenParams{Notifications: l.filter}
		ended <- c.Call(ctx, mcp.MethodSubscriptionsListen, p, nil, mcpclient.WithTimeout(-1))
	}()
	begun, over := time.Now(), false
	limit := time.NewTimer(e.facts.limits.request)
	defer limit.Stop()
	select {
	case <-acked:
		l.acked = true
	case l.err = <-ended:
		over = true
	case <-limit.C:
	}
	l.took = time.Since(begun)
	l.pingErr = c.Ping(ctx)
	cancel()
	if !over {
		<-ended
	}
	return l
}

// declaredChanges returns the list changes that a server declares.
func declaredChanges(c *mcp.ServerCapabilities) (f mcp.SubscriptionFilter) {
	f.ToolsListChanged = c.Tools != nil && c.Tools.ListChanged
	f.PromptsListChanged = c.Prompts != nil && c.Prompts.ListChanged
	f.ResourcesListChanged = c.Resources != nil && c.Resources.ListChanged
	return f
}

func (l *listenFacts) tried() bool {
	return l.filter.ToolsListChanged || l.filter.PromptsListChanged || l.filter.ResourcesListChanged
}

// doNotListen is the advice for servers that fail on subscriptions/listen.
const doNotListen = `"listen": false for this server in the file of servers, or Options.NoListening in a program, ` +
	"stops clients from sending it; clients then do not notice changes"

func listens(f *facts) answer {
	l := &f.listening
	switch {
	case f.noListening:
		return answer{Skipped, "the client is configured not to listen", ""}
	case !f.modern():
		return answer{Skipped, "servers of this revision send changes without a subscription", ""}
	case !l.tried():
		return answer{Skipped, "the server declares no list changes", ""}
	case l.pingErr != nil:
		return answer{Fail, fmt.Sprintf("the server stops answering after subscriptions/listen: %v", l.pingErr),
			doNotListen + ". Update the server: mcp-go 1.0.0 on stdio has this bug"}
	case l.err != nil:
		return answer{Warn, fmt.Sprintf("the server declares list changes, but rejects subscriptions/listen: %v", l.err),
			"clients do not notice changes: update the server, or do not declare listChanged"}
	case !l.acked:
		return answer{Warn, "the server has not acknowledged subscriptions/listen within " + unit.Duration(l.took),
			"clients do not notice changes and keep retrying: update the server. " + doNotListen}
	}
	return answer{OK, fmt.Sprintf("subscriptions/listen was acknowledged after %s, and the server answered a ping "+
		"afterwards",
		unit.Duration(l.took)), ""}
}
