package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// module is a Go module, or the standard library, with packages that the programs link.
type module struct {
	Path, Version, Dir, Sum string
	purl                    string // of an entry that is not a Go module
	texts                   []text
	licences                []string // SPDX identifiers, sorted
}

// text is a file of a module that has to be passed on with the programs.
type text struct{ name, body string }

// standard is the path of the standard library's entry; govulncheck and others use this name.
const standard = "std"

// linked returns the modules of the packages that programs are linked from, by path, and the standard library.
func linked(dir string, programs ...string) ([]module, error) {
	list := exec.Command("go", append([]string{"list", "-deps", "-json=Module"}, programs...)...)
	list.Dir = dir
	var errs bytes.Buffer
	list.Stderr = &errs
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, errs.Bytes())
	}
	std, err := toolchain(dir)
	if err != nil {
		return nil, err
	}
	found := map[string]module{standard: std}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Module *struct {
				module
				Main    bool
				Replace *module
			}
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if p.Module != nil && !p.Module.Main {
			found[p.Module.Path] = cmp.Or(p.Module.Replace, &p.Module.module).named(p.Module.Path)
		}
	}
	var all []module
	for _, m := range found {
		if err := m.read(); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// toolchain returns the entry of the standard library. The library's licence is next to it.
func toolchain(dir string) (module, error) {
	env := exec.Command("go", "env", "GOVERSION", "GOROOT")
	env.Dir = dir
	out, err := env.Output()
	if err != nil {
		return module{}, fmt.Errorf("go env: %w", err)
	}
	version, root, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return module{Path: standard, Version: strings.TrimPrefix(version, "go"), Dir: root}, nil
}

// library returns the entry for PURL=DIR, a library that is not a Go module.
func library(arg string) (module, error) {
	purl, dir, _ := strings.Cut(arg, "=")
	name, version, found := strings.Cut(strings.TrimPrefix(purl, "pkg:"), "@")
	if !found || dir == "" {
		return module{}, fmt.Errorf("%q is not of the form pkg:TYPE/NAME@VERSION=DIR", arg)
	}
	_, name, _ = strings.Cut(name, "/")
	m := module{Path: name, Version: version, Dir: dir, purl: purl}
	return m, m.read()
}

func (m *module) named(path string) module {
	n := *m
	n.Path = path
	return n
}

var (
	licenceFile = regexp.MustCompile(`(?i)^(licen[cs]es?|copying|unlicense)([-.].*)?$`)
	noticeFile  = regexp.MustCompile(`(?i)^(notice|patents)(\..*)?$`)
)

// read reads the licences in the module's directory.
func (m *module) read() error {
	files, err := os.ReadDir(m.Dir)
	if err != nil {
		return fmt.Errorf("%s: %w; `go mod download` fetches modules", m.Path, err)
	}
	for _, f := range files {
		isLicence := licenceFile.MatchString(f.Name())
		if f.IsDir() || beside[m.Path+" "+f.Name()] != "" || !isLicence && !noticeFile.MatchString(f.Name()) {
			continue
		}
		body, err := os.ReadFile(filepath.Join(m.Dir, f.Name()))
		if err != nil {
			return err
		}
		m.texts = append(m.texts, text{f.Name(), string(body)})
		if !isLicence {
			continue
		}
		known := identify(string(body))
		if len(known) == 0 {
			return fmt.Errorf("%s %s: %s is of no licence that is known here (licence.go)", m.Path, m.Version, f.Name())
		}
		m.licences = append(m.licences, known...)
	}
	if len(m.licences) == 0 {
		return fmt.Errorf("%s %s has no file with a licence in %s", m.Path, m.Version, m.Dir)
	}
	slices.Sort(m.licences)
	m.licences = slices.Compact(m.licences)
	return nil
}
