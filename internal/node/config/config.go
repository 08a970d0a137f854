// Package config reads and writes the YAML files of the processes.
//
// Defaults apply first, then the file, then the flags; internal/cli reads the flags and sets the
// fields of the same configuration. Unknown keys are errors, and all of them are listed at once.
//
// Goals: one file can be printed, edited and read again. Non-goals: flags,
// the environment.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"adshard/fault"
)

const op = "config: read"

// unknownKey matches the YAML reader's report of an unknown key. It is used only for messages.
var unknownKey = regexp.MustCompile(`field (\S+) not found in type (\S+)`)

// maxFile bounds a configuration file in bytes.
const maxFile = 1 << 20

// Load reads the YAML file at a path into the struct with yaml tags that `into` points to; keys
// that the file lacks keep their values. Errors: fault.NotFound; fault.Invalid with a line for each
// fault.
func Load(path string, into any) error {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return fault.Newf(fault.NotFound, op, "there is no file %s; `--print-config` writes one to begin with", path)
	}
	if err != nil {
		return fault.New(fault.Invalid, op, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return fault.New(fault.Invalid, op, err)
	}
	if len(text) > maxFile {
		return fault.Newf(fault.Invalid, op, "%s is larger than %d bytes", path, maxFile)
	}
	return parse(path+": ", "; --print-config shows all", text, into)
}

// Parse is like Load, for a text; an empty text changes nothing.
func Parse(text []byte, into any) error { return parse("", "", text, into) }

// parse puts `name` before each fault, and adds to a fault of an unknown key where the known keys
// are shown.
func parse(name, shown string, text []byte, into any) error {
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	err := d.Decode(into)
	if err == nil {
		err = CheckWhole(text, reflect.TypeOf(into))
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	var faults *yaml.TypeError
	if errors.As(err, &faults) {
		return fault.Newf(fault.Invalid, op, "%s%s", name, strings.Join(readable(faults.Errors, shown, text, into), "; "))
	}
	if err != nil {
		return fault.Newf(fault.Invalid, op, "%s%w", name, err)
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return fault.Newf(fault.Invalid, op, "%smore than one document; a configuration is one", name)
	}
	return nil
}

// readable rewrites the faults of a file in terms of its keys, without Go types.
func readable(faults []string, shown string, text []byte, into any) []string {
	var file yaml.Node
	_ = yaml.Unmarshal(text, &file) // it was parsed before
	known := keys(reflect.TypeOf(into))
	out := make([]string, len(faults))
	for i, f := range faults {
		if unknownKey.MatchString(f) {
			out[i] = unknownKey.ReplaceAllStringFunc(f, func(text string) string {
				m := unknownKey.FindStringSubmatch(text)
				return "there is no key " + m[1] + meant(m[1], known[m[2]]) + shown
			})
			continue
		}
		out[i] = keyed(f, &file)
	}
	return out
}

// Write writes a configuration as YAML that Load reads.
func Write(w io.Writer, cfg any) error {
	e := yaml.NewEncoder(w)
	e.SetIndent(2)
	if err := e.Encode(cfg); err != nil {
		return fmt.Errorf("config: write: %w", err)
	}
	return e.Close()
}
