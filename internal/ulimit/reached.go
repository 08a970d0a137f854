package ulimit

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Advice says what to do when no more files can be opened, or "" if err is about something else. At the start
// Need.Check has the number that is needed; a limit that is reached later is too low by an unknown amount, so it is
// doubled.
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

// Reached returns why this process can open only a few more files, or none, or nil if it can open more. It is for
// libraries that report a file that could not be opened without the reason, and have closed others by then.
func Reached() (err error) {
	var open [8]*os.File
	for i := range open {
		if open[i], err = os.Open(os.DevNull); err != nil {
			break
		}
	}
	for _, f := range open {
		_ = f.Close() // nothing was written; nil is no file
	}
	return err
}
