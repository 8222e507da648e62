package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// change sets the weather. In foul weather calls may fail; in fair weather they must succeed.
func (l *load) change(foul bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if foul != (l.weather%2 == 1) {
		if !foul {
			l.foul = append(l.foul, span{l.since, time.Now()})
		}
		l.weather++
		l.since = time.Now()
	}
}

// span is a time interval.
type span struct{ from, to time.Time }

// fairSince returns the duration of fair weather since from. Processes can use the store only in fair weather.
func (l *load) fairSince(from time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	fair := now.Sub(from)
	all := l.foul
	if l.weather%2 == 1 {
		all = append(slices.Clip(all), span{l.since, now})
	}
	for _, f := range all {
		if f.to.After(from) {
			fair -= min(f.to.Sub(f.from), f.to.Sub(from))
		}
	}
	return fair
}

// inTime checks that a call, whose process died, ended with err within a lease after the death of the process.
func (l *load) inTime(id string, killed time.Time, lease time.Duration, err error) {
	if took := l.fairSince(killed); took > lease+margin {
		l.problem("%s ends after %v without a fault since its process was killed, want %v at most: %v", id, took,
			lease+margin, err)
	}
}

// lose records that Redis has lost data.
func (l *load) lose(from, to time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = append(l.lost, span{from, to})
	for uri, all := range l.touches { // an announcement to other processes may be lost unnoticed
		l.touches[uri] = slices.DeleteFunc(all, func(t touch) bool {
			return t.at.After(to.Add(-200*time.Millisecond)) && t.at.Before(to.Add(100*time.Millisecond))
		})
	}
	l.kept = slices.DeleteFunc(l.kept, func(k *keptTask) bool { return k.done.After(from.Add(-lag)) })
}

// lostBetween reports whether Redis has lost data that was written between the two times.
func (l *load) lostBetween(from, to time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hasLost(from, to)
}

// lag is an upper bound for the lag of a replica on a busy machine.
const lag = 2 * time.Second

// hasLost implements lostBetween. mu is held.
func (l *load) hasLost(from, to time.Time) bool {
	return slices.ContainsFunc(l.lost, func(x span) bool {
		return from.Before(x.to.Add(time.Second)) && to.After(x.from.Add(-lag))
	})
}

// judge checks the outcome of a call, and returns the process that has answered.
func (u *user) judge(kind, id string, weather int, started time.Time, r *mcp.CallToolResult, err error) (by string) {
	l, ended := u.l, time.Now()
	l.mu.Lock()
	c := l.runs[id]
	fair := weather%2 == 0 && weather == l.weather
	l.longest = max(l.longest, ended.Sub(started))
	if err == nil {
		l.count[kind]++
	} else {
		l.count[kind+" failed"]++
	}
	var killed *time.Time // when the process that handled the call was killed
	if n := len(c.began); n > 0 {
		killed = c.began[n-1].killed.Load()
	}
	if err != nil && mcpclient.SafeToRetry(err) {
		c.safe = err
	}
	l.mu.Unlock()
	took := ended.Sub(started).Round(time.Millisecond)
	lost := kind == "ask" && l.lostBetween(started, ended) // Redis may have lost the client's answer
	if !lost && err != nil && (errors.Is(err, mcpclient.ErrTimeout) || errors.Is(err, context.DeadlineExceeded)) {
		l.problem("%s hangs until its timeout: %v", id, err)
		return ""
	}
	if kind != "task" && killed != nil && killed.After(started) {
		l.inTime(id, *killed, chaosLease, err)
	}
	if err == nil {
		answer, process, _ := strings.Cut(r.Text(), " by ")
		if answer != id {
			l.problem("%s has the answer %q", id, r.Text())
		}
		return process
	}
	if fair && kind != "task" {
		l.problem("%s fails after %v although there is no fault: %v", id, took, err)
	}
	return ""
}

// recover waits until all clients can make calls again and have seen all changes.
func (l *load) recover(alive []*proc) {
	deadline := time.Now().Add(most)
	for _, u := range l.users {
		for {
			id, weather := l.id(u, "quick")
			started := time.Now()
			r, err := u.c.CallTool(l.t.Context(), "quick", unique{id})
			if u.judge("quick", id, weather, started, r, err); err == nil {
				break
			}
			if time.Now().After(deadline) {
				l.problem("%s is not served again %v after the fault: %v", u.name, most, err)
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	for _, u := range l.users {
		for _, uri := range uris {
			for want := l.known(uri, alive); u.version(uri) < want; time.Sleep(20 * time.Millisecond) {
				if time.Now().After(deadline) {
					l.problem("%s has not heard of version %d of %s, it knows version %d", u.name, want, uri, u.version(uri))
					break
				}
			}
		}
	}
	l.checkKept()
}

// known returns the latest version of a resource that clients must have seen. A process that was killed may not have
// announced its changes.
func (l *load) known(uri string, alive []*proc) (version int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.touches[uri] {
		if slices.ContainsFunc(alive, func(p *proc) bool { return p.name == t.by }) {
			version = max(version, t.version)
		}
	}
	return version
}

// checkKept requests some of the finished tasks again.
func (l *load) checkKept() {
	l.mu.Lock()
	all := slices.Clone(l.kept)
	l.mu.Unlock()
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, k := range all[:min(len(all), 8)] {
		var answer string
		r, err := k.u.c.ResumeTask(k.task.ID()).Wait(l.t.Context())
		if err == nil {
			answer = r.Text()
		}
		if answer != k.answer {
			l.problem("a task of %s that was done has not kept its result %q: %q, %v", k.u.name, k.answer, answer, err)
		}
	}
}

// finish stops all clients and checks the runs of all handlers.
func (l *load) finish() {
	close(l.stop)
	l.work.Wait()
	for _, u := range l.users {
		u.leave()
	}
	l.mu.Lock()
	wrong := l.strange
	for id, r := range l.runs {
		switch {
		case r.ran > 1, len(r.began) > 1 && !r.asks:
			wrong = append(wrong, fmt.Sprintf("%s ran %d times, and began %d times", id, r.ran, len(r.began)))
		case r.safe != nil && len(r.began) > 0:
			wrong = append(wrong, fmt.Sprintf("%s ran, although its error says that it did not: %v", id, r.safe))
		}
	}
	l.mu.Unlock()
	for _, text := range wrong {
		l.problem("%s", text)
	}
}
