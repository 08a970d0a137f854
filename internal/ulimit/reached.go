package ulimit

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Advice returns what to do when no more files can be opened, or "" if err is about something else. At the start
// Need.Check knows the number that is needed. A limit that is reached later is too low by an unknown amount, so the
// advice is to double it.
func Advice(err error) string {
	switch {
	case errors.Is(err, syscall.ENFILE):
		return "the whole machine may open no more files: end what has many of them open, or raise fs.file-max (sysctl)"
	case errors.Is(err, syscall.EMFILE):
		l := Need{Files: Files()}.limits(Files(), 0, 0)[0]
		return fmt.Sprintf("this process may have %s, connections among them, and needs more: %s", l.amount(l.is), l.advice())
	}
	return ""
}

// Reached returns an error if this process can open only a few more files or none, and nil if it can open more. It is
// for libraries that do not say why a file could not be opened, and that have closed other files by then.
func Reached() (err error) {
	var open [8]*os.File
	for i := range open {
		if open[i], err = os.Open(os.DevNull); err != nil {
			break
		}
	}
	for _, f := range open {
		_ = f.Close() // nothing was written; closing nil does nothing
	}
	return err
}
