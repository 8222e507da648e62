package mcpclient_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// The test uses handlers, a watched resource and cached results, in both eras.
func TestNoListeningRequestsNoChangeNotifications(t *testing.T) {
	j := &journal{}
	o := mcpclient.Options{NoListening: true, Backoff: mcpclient.Backoff{Min: time.Second}, Features: []mcpclient.Feature{
		mcpclient.HandleToolListChanged(j.changed("tools")), mcpclient.HandleResourceUpdated(j.updated)}}
	inRevisions(t, []mcp.Version{mcp.Version20251125, mcp.Version20260728}, all, o, func(t *testing.T, r *revision) {
		j.lines = nil
		if r.modern() {
			err := r.c.SubscribeResource(t.Context(), motd)
			if err == nil || !mcpclient.SafeToRetry(err) || !strings.Contains(err.Error(), "Options.NoListening") ||
				!strings.Contains(err.Error(), `"listen": false`) {
				t.Errorf("subscribe: got %v, want an error that names the option", err)
			}
			fill(t, r.conversation, r.c)
			if kept := keptOf(t, r.conversation, r.c); kept != "0123456" {
				t.Errorf("%s is cached, want everything until it is stale", kept)
			}
		} else {
			r.subscribe(motd) // a legacy revision has another method for this
		}
		remove := r.c.Handle(mcpclient.HandlePromptListChanged(func(context.Context) {}))
		defer remove()
		synctest.Wait()
		r.silent()
		r.reconnect(all)
		if !r.modern() {
			r.subscribed(motd)
			j.wants(t, "tools", "updated "+motd)
			return
		}
		j.wants(t, "tools") // the server may be another version now
		r.silent()
	})
}
