package outfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"adshard/fault"
)

// Log is a file to which lines are appended. Older lines are in FILE.1 (the newest of them), FILE.2 and so on.
type Log struct {
	Output
	// Files is the most files of the log.
	Files int
}

// Outputs returns all files of the log, for Check.
func (l *Log) Outputs() []Output {
	all := make([]Output, max(1, l.Files))
	for i := range all {
		all[i] = l.Output
		all[i].Path = l.path(i)
	}
	return all
}

// path returns the path of the i-th file, after following links, so that a file is renamed and never a link to one.
func (l *Log) path(i int) string {
	to := target(l.Path)
	if i == 0 {
		return to
	}
	return fmt.Sprintf("%s.%d", to, i)
}

// Open opens the newest file to append to it, or creates it. It returns fault.Invalid if a file of another kind has
// any of the log's names.
func (l *Log) Open() (*os.File, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	if err := Check(nil, l.Output); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(l.path(0), os.O_CREATE|os.O_APPEND|os.O_RDWR, Private)
	if err != nil {
		return nil, fault.New(fault.Invalid, "", failed(l.Path, err))
	}
	info, err := f.Stat()
	if err == nil {
		err = l.own(f, info.Size()) // check this very file again
	}
	if err != nil {
		return nil, errors.Join(fault.Newf(fault.Invalid, "", "%s: %w", l.name(), err), f.Close())
	}
	return f, nil
}

// Check returns fault.Invalid for files of another kind. Unlike other outputs, log files are removed in time, and
// must be regular files.
func (l *Log) Check() error {
	for _, o := range l.Outputs() {
		err := o.refused(o.Path, nil)
		if info, e := os.Stat(o.Path); err == nil && e == nil && !info.Mode().IsRegular() {
			err = errors.New("it is a device: name a file")
		}
		if err != nil {
			return fault.Newf(fault.Invalid, "", "%s: %w", o.name(), err)
		}
	}
	return nil
}

// Rotate renames each file to the next name, and removes the oldest. It does nothing if one of the files does not
// belong to the log.
func (l *Log) Rotate() error {
	if err := l.Check(); err != nil {
		return err
	}
	oldest := l.Files - 1
	err := remove(l.path(oldest))
	for i := oldest; i > 0 && err == nil; i-- {
		if err = os.Rename(l.path(i-1), l.path(i)); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return err
}
