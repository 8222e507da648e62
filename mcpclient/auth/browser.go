package auth

import (
	"fmt"
	"os/exec"
)

// openBrowser starts the system's opener for an http or https URL. The URL is a separate argument and never passes
// through a shell. If the opener fails later, openBrowser sends the error to failed, which must have room for one
// error.
func openBrowser(url string, failed chan<- error) error {
	name, args := opener(url)
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("open the browser: %w", err)
	}
	go func() { // ends with the opener, which may be the user's browser and must not be killed
		if err := cmd.Wait(); err != nil {
			failed <- fmt.Errorf("open the browser: %s: %w", name, err)
		}
	}()
	return nil
}
