package hotwriters

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"adshard/internal/overlay"
)

// edit replaces a text that occurs once in a file of the product's source.
type edit struct{ file, before, after string }

// without holds the edits that remove a technique. The product is compared with itself
// without one technique or both. Without batching, a bucket ends before a second change
// of a group that it contains. Isolated changes are still sent as one, because they would
// pile up.
var without = map[string]edit{
	"isolation": {"balance/delivery/deferral.go", "s.later.allowed = true", "s.later.allowed = false"},
	"batching": {"balance/delivery/gather.go", "if g.seen[t] || !concerns(c, own) ||", `if g.seen[t] {
			*reached = c.Clock - 1
			return
		}
		if !concerns(c, own) ||`},
}

// Build builds the program adshard from its source into a directory: once as it is, and
// once for each variant without some techniques.
func Build(ctx context.Context, source, dir string) ([]Program, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	var list []Program
	for _, lacks := range [][]string{nil, {"isolation"}, {"batching"}, {"isolation", "batching"}} {
		name := "as it is"
		if len(lacks) > 0 {
			name = "without " + strings.Join(lacks, " and ")
		}
		p := Program{Name: name, Path: filepath.Join(dir, "adshard-"+strings.Join(append(lacks, "built"), "-"))}
		if err := build(ctx, source, p.Path, lacks); err != nil {
			return nil, fmt.Errorf("build adshard %s: %w", name, err)
		}
		list = append(list, p)
	}
	return list, nil
}

// build builds one variant; edited files are compiled in place of the source's files.
func build(ctx context.Context, source, program string, lacks []string) error {
	replace := make(map[string]string)
	for _, technique := range lacks {
		e := without[technique]
		file, err := filepath.Abs(filepath.Join(source, e.file))
		if err != nil {
			return err
		}
		text, err := e.edited(file)
		if err != nil {
			return err
		}
		replace[file] = program + "-" + technique + ".go"
		if err := os.WriteFile(replace[file], []byte(text), 0o600); err != nil {
			return err
		}
	}
	list, err := overlay.Marshal(replace)
	if err == nil {
		err = os.WriteFile(program+".json", list, 0o600)
	}
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-overlay", program+".json", "-o", program, "./cmd/adshard")
	cmd.Dir = source
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// edited returns a file's text after the edit.
func (e edit) edited(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), e.before); n != 1 {
		return "", fmt.Errorf("%s has %q %d times, not once: it is another version of the source", file, e.before, n)
	}
	return strings.Replace(string(text), e.before, e.after, 1), nil
}
