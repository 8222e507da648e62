package auth

import (
	"fmt"
	"os/exec"
)

// openBrowser starts the system's opener for a URL of http or https, which is an argument of its own and never goes
// through a shell. How the opener failed, if it does before it is of no interest any more, is sent to failed, which has
// room for it.
func openBrowser(url string, failed chan<- error) error {
	name, args := opener(url)
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("open the browser: %w", err)
	}
	go func() { // ends with the opener, which may be the person's browser: it is theirs to close
		if err := cmd.Wait(); err != nil {
			failed <- fmt.Errorf("open the browser: %s: %w", name, err)
		}
	}()
	return nil
}
