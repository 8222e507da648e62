package workload

import (
	"context"
	"io"
	"os"
	"os/exec"
)

// childOf turns a Peer.Pipe into a Peer.Stdio, for floors: it starts the child and waits for its end.
func childOf(pipe func(context.Context, io.ReadCloser, io.WriteCloser) (Client, error)) func(context.Context, []string,
	[]string) (Client, error) {
	return func(ctx context.Context, command, env []string) (Client, error) {
		toChild, w, r, fromChild, err := Pipes()
		if err != nil {
			return nil, err
		}
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, toChild, fromChild, os.Stderr
		err = cmd.Start()
		_ = toChild.Close()
		_ = fromChild.Close()
		if err != nil {
			_ = w.Close()
			_ = r.Close()
			return nil, err
		}
		c, err := pipe(ctx, r, w)
		if err != nil {
			_ = w.Close()
			_ = r.Close()
			_ = cmd.Wait()
			return nil, err
		}
		return &childClient{c, cmd}, nil
	}
}

type childClient struct {
	Client
	cmd *exec.Cmd
}

func (c *childClient) Close() error {
	err := c.Client.Close()
	_ = c.cmd.Wait() // a child may fail to write its last answer
	return err
}
