package browser

import "context"

// Trouble builds and runs a process with clients in every state. It returns the process and the URL of its debug page.
func Trouble(ctx context.Context, dir string) (*Program, string, error) {
	path, err := build(ctx, dir, "testenv/trouble")
	if err != nil {
		return nil, "", err
	}
	p, err := Run(path)
	if err != nil {
		return nil, "", err
	}
	m, err := p.Await(`The debug page is at (\S+)`)
	if err != nil {
		p.Stop()
		return nil, "", err
	}
	return p, m[1], nil
}
