package mcpclient

import (
	"cmp"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/running"
)

// Clients returns the clients of this process that have not ended (see [Client.Done]), in the order in which they were
// created.
func Clients() []*Client {
	var all []*Client
	for _, v := range running.Clients.All() {
		if c, ok := v.(*Client); ok {
			all = append(all, c)
		}
	}
	return all
}

// enlist adds the client to the list of running clients.
func (c *Client) enlist() {
	c.number = running.Clients.Number()
	running.Enlist(&running.Clients, c.number, c)
}

// Inspect returns the state of the client. All fields show the same moment, except fields for which package inspect
// documents an exception. Inspect calls no user code during the snapshot, which is short even for a client with many
// calls.
func (c *Client) Inspect() inspect.Client {
	running.Watch()
	c.subscriptions.mu.Lock() // lock this before the mutex of the core
	listening := c.subscriptions.listening
	i := c.core.Inspect(func(i *inspect.Client) {
		i.Listening = i.Epoch == listening && i.Version != ""
		i.Answering = c.answering.serving.Len()
		i.Notifications, i.QueueLimit = c.dispatcher.queued()
		i.Subscribed, i.Subscriptions = c.subscriptions.watches.show()
		c.subscriptions.mu.Unlock() // unlock before the core calls code of the transport
	})
	i.Number, i.Name, i.InstanceID, i.Group = c.number, c.name, c.instance, c.cfg.TelemetryGroup
	return i
}

// queued returns the number of queued notifications, and the limit of the queue.
func (d *dispatcher) queued() (n, limit int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.hearers == nil {
		return 0, d.c.cfg.Limits.Notifications
	}
	return len(d.queue.waiting), d.queue.limit
}

// show returns the number of wanted resources. uris are some or all of their URIs, cut to the limits of an inspection.
func (t *watches) show() (wanted int, uris []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for uri, w := range t.all {
		if !w.wanted {
			continue
		}
		wanted++
		uris = conn.Among(uris, uri, cmp.Compare)
	}
	for i := range uris {
		uris[i] = conn.Excerpt(uris[i], conn.MaxShown)
	}
	return wanted, uris
}
