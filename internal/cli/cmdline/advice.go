package cmdline

import (
	"errors"
	"net"
	"syscall"

	"adshard/fault"
)

// advice returns what to do about an error if the error's text may not say so, or "".
func advice(err error) string {
	var network *net.OpError // its text says what to do
	switch {
	case errors.As(err, &network):
		return ""
	case errors.Is(err, syscall.EACCES):
		return "Permission denied: check the owner and mode of the file or directory."
	case errors.Is(err, syscall.ENOSPC), fault.Is(err, fault.NoSpace):
		return "The disk is full: make room (`df -h` shows where), then run it again; what was reported as done is kept."
	}
	return ""
}
