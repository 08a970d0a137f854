package main

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// writeNotice writes a line for each module. The lines have no versions, so that they change only if a module or a
// licence does.
func writeNotice(w io.Writer, list []module) error {
	var b strings.Builder
	for _, m := range list {
		name := m.Path
		if name == standard {
			name = "Go's standard library"
		}
		fmt.Fprintf(&b, "* %s: %s\n", name, strings.Join(m.licences, ", "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeCopyright writes this project's NOTICE, and then what must be passed on with the programs for the modules:
// their licences and notices, word for word except for the terms of the Apache License.
func writeCopyright(w io.Writer, own string, list []module) error {
	var b strings.Builder
	b.WriteString(own)
	b.WriteString("\nOn Debian systems the Apache License, Version 2.0, is in " + commonApache + ".\n")
	for _, m := range list {
		for _, t := range m.texts {
			fmt.Fprintf(&b, "\n%s\n%s %s: %s\n\n%s\n", strings.Repeat("-", 78), m.Path, m.Version, t.name, strings.TrimRight(withoutTerms(t.body), "\n"))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// commonApache is Debian's file of the Apache License. Packages refer to it rather than contain the text (Debian
// Policy 12.5).
const commonApache = "/usr/share/common-licenses/Apache-2.0"

// apacheTerms finds the terms of the Apache License: from its name to the last sentence of section 9.
var apacheTerms = regexp.MustCompile(`(?s)[ \t]*Apache License\s+Version 2\.0, January 2004.*?accepting any such warranty\s+or additional liability\.(\s+END OF TERMS AND CONDITIONS)?`)

// withoutTerms replaces the terms of the Apache License by a reference to commonApache. It keeps what is before and
// after the terms, such as the copyright.
func withoutTerms(body string) string {
	return apacheTerms.ReplaceAllString(body, "[the terms of the Apache License, Version 2.0: "+commonApache+"]")
}

// The parts of a CycloneDX 1.6 document that are used here.
type (
	document struct {
		Format       string       `json:"bomFormat"`
		Spec         string       `json:"specVersion"`
		Version      int          `json:"version"`
		Metadata     metadata     `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}
	metadata struct {
		Component component `json:"component"`
	}
	component struct {
		Ref      string    `json:"bom-ref"`
		Type     string    `json:"type"`
		Name     string    `json:"name"`
		Version  string    `json:"version"`
		Hashes   []hash    `json:"hashes,omitempty"`
		Licences []licence `json:"licenses"`
		PURL     string    `json:"purl"`
	}
	hash struct {
		Algorithm string `json:"alg"`
		Content   string `json:"content"`
	}
	licence struct {
		License struct {
			ID string `json:"id"`
		} `json:"license"`
	}
	dependency struct {
		Ref string   `json:"ref"`
		On  []string `json:"dependsOn"`
	}
)

// writeSBOM writes the bill of materials. It has no time and no serial number, so that equal programs have equal
// ones. Which module needs which is in the modules' go.mod files.
func writeSBOM(w io.Writer, version string, list []module) error {
	own := component{Type: "application", Name: "adshard", Version: version, PURL: "pkg:generic/adshard@" + escaped(version), Licences: licencesOf("Apache-2.0")}
	own.Ref = own.PURL
	d := document{Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: metadata{own}}
	needs := dependency{Ref: own.Ref}
	for _, m := range list {
		c := component{Type: "library", Name: m.Path, Version: m.Version, PURL: cmp.Or(m.purl, "pkg:golang/"+m.Path+"@"+escaped(m.Version)), Licences: licencesOf(m.licences...)}
		c.Ref = c.PURL
		if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:")); err == nil && len(sum) > 0 {
			c.Hashes = []hash{{"SHA-256", hex.EncodeToString(sum)}} // as in go.sum: of all files
		}
		d.Components = append(d.Components, c)
		needs.On = append(needs.On, c.Ref)
	}
	d.Dependencies = []dependency{needs}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(d)
}

// escaped returns a version as it is written in a package URL.
func escaped(version string) string { return strings.ReplaceAll(version, "+", "%2B") }

func licencesOf(ids ...string) []licence {
	list := make([]licence, len(ids))
	for i, id := range ids {
		list[i].License.ID = id
	}
	return list
}
