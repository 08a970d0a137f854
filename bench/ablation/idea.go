package ablation

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"adshard/fault"
)

// Idea is something that makes the product's search faster, with what switches
// it off.
type Idea struct {
	// Name is one word, for files and flags.
	Name string
	// What the product does, and what it does instead when that is switched off.
	What, Instead string
	Patches       []Patch
}

// Patch puts other words in the place of some in a source file; they must stand
// there exactly once.
type Patch struct{ File, Old, New string }

// Overlay writes the source files of the module in root, changed so that the idea
// is switched off, to dir, and returns the file that go build -overlay reads.
// fault.Invalid: the source no longer has the words that are to be replaced.
func (i *Idea) Overlay(root, dir string) (string, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	changed := make(map[string]string) // text by file
	for _, p := range i.Patches {
		if err := p.apply(i.Name, root, changed); err != nil {
			return "", err
		}
	}
	replace := make(map[string]string)
	for file, text := range changed {
		to := filepath.Join(dir, i.Name+"-"+strconv.Itoa(len(replace))+".go.txt")
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			return "", err
		}
		replace[filepath.Join(root, file)] = to
	}
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, i.Name+".json")
	return overlay, os.WriteFile(overlay, raw, 0o644)
}

// apply changes a file of those already changed, or of the source.
func (p *Patch) apply(idea, root string, changed map[string]string) error {
	text, ok := changed[p.File]
	if !ok {
		raw, err := os.ReadFile(filepath.Join(root, p.File))
		if errors.Is(err, os.ErrNotExist) {
			return fault.Newf(fault.Invalid, "ablation: "+idea, "%s is not there: name the directory of the source, or mend the idea", p.File)
		}
		if err != nil {
			return fault.New(fault.Internal, "ablation: "+idea, err)
		}
		text = string(raw)
	}
	if n := strings.Count(text, p.Old); n != 1 || p.Old == p.New {
		return fault.Newf(fault.Invalid, "ablation: "+idea, "the words to be replaced stand %d times in %s, they must once: mend the idea\n%s", n, p.File, p.Old)
	}
	changed[p.File] = strings.Replace(text, p.Old, p.New, 1)
	return nil
}
