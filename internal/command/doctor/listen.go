package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/internal/unit"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// listenFacts are the outcome of a subscription to all changes of lists that a server declares.
type listenFacts struct {
	filter  mcp.SubscriptionFilter // the zero one if no subscription was tried
	acked   bool
	took    time.Duration // until the acknowledgement, or as long as the examination has waited for it
	err     error         // how the subscription has failed; nil while it is open
	pingErr error         // of a ping behind that
}

// listen opens a subscription, pings, and ends the subscription. It comes last, as some servers answer nothing any more
// after it.
func (e *examination) listen(ctx context.Context, c *mcpclient.Client) (l listenFacts) {
	if e.o.NoListening || !e.facts.modern() {
		return l
	}
	if l.filter = declaredChanges(&e.facts.session.capabilities); !l.tried() {
		return l
	}
	ctx, cancel := context.WithCancel(ctx)
	acked := make(chan struct{}, 1)
	defer c.OnNotification(mcp.NotificationSubscriptionsAcknowledged, func(context.Context, *mcpclient.Notification) {
		select {
		case acked <- struct{}{}:
		default:
		}
	})()
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

// declaredChanges returns the changes of lists that a server declares.
func declaredChanges(c *mcp.ServerCapabilities) (f mcp.SubscriptionFilter) {
	f.ToolsListChanged = c.Tools != nil && c.Tools.ListChanged
	f.PromptsListChanged = c.Prompts != nil && c.Prompts.ListChanged
	f.ResourcesListChanged = c.Resources != nil && c.Resources.ListChanged
	return f
}

func (l *listenFacts) tried() bool {
	return l.filter.ToolsListChanged || l.filter.PromptsListChanged || l.filter.ResourcesListChanged
}

// doNotListen is the advice for a server that cannot deal with subscriptions/listen.
const doNotListen = `"listen": false for this server in the file of servers, or Options.NoListening in a program, ` +
	"keeps clients from sending it; they then hear of no changes"

func listens(f *facts) answer {
	l := &f.listening
	switch {
	case f.noListening:
		return answer{Skipped, "the client is told not to listen", ""}
	case !f.modern():
		return answer{Skipped, "servers of this revision send changes unasked", ""}
	case !l.tried():
		return answer{Skipped, "the server declares no changes of lists", ""}
	case l.pingErr != nil:
		return answer{Fail, fmt.Sprintf("after subscriptions/listen the server answers nothing any more: %v", l.pingErr),
			doNotListen + ". An update of the server may help: mcp-go 1.0.0 on stdio is known for this"}
	case l.err != nil:
		return answer{Warn, fmt.Sprintf("the server declares changes of lists, and refuses subscriptions/listen: %v", l.err),
			"clients hear of no changes: update the server, or let it declare none"}
	case !l.acked:
		return answer{Warn, "the server has not acknowledged subscriptions/listen within " + unit.Duration(l.took),
			"clients hear of no changes and try again and again: update the server. " + doNotListen}
	}
	return answer{OK, fmt.Sprintf("subscriptions/listen was acknowledged after %s, and a ping was answered after that",
		unit.Duration(l.took)), ""}
}
