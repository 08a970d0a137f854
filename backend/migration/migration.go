// Package migration lists the steps of a schema: SQL files, each of which brings a
// database from the version before it to its own, as 00011_campaign_label.sql does
// to version 11. A database runs each in one transaction, with the note that it did.
package migration

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Step is one file.
type Step struct {
	Version int64
	SQL     string
}

// After returns the steps of a folder to versions above one, in ascending order.
func After(files fs.FS, folder string, version int64) ([]Step, error) {
	names, err := fs.Glob(files, path.Join(folder, "*.sql"))
	if err != nil {
		return nil, err
	}
	var list []Step
	for _, name := range names {
		digits, _, _ := strings.Cut(path.Base(name), "_")
		to, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s does not begin with a version: %w", name, err)
		}
		if to <= version {
			continue
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		list = append(list, Step{to, string(text)})
	}
	slices.SortFunc(list, func(a, b Step) int { return cmp.Compare(a.Version, b.Version) })
	return list, nil
}
