package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"adshard/backend/fields"
)

// edited maps files that follow from the fields in part to the function that updates that part.
var edited = map[string]func(string) string{
	"ingest/schema.json":                 func(text string) string { return eachKind(text, inSchema) },
	"internal/node/httpapi/openapi.yaml": func(text string) string { return eachKind(text, inOpenAPI) },
	"docs/import.md":                     inTables,
	"backend/postgres/roles.sql":         func(text string) string { return eachKind(text, inRoles) },
}

func eachKind(text string, edit func(string, entity) string) string {
	for _, e := range entities() {
		text = edit(text, e)
	}
	return text
}

// line is the line of a property in a schema.
type line struct{ name, text string }

// put replaces the line of a property, or inserts it before the fields that all entities have.
func put(list []line, p line) []line {
	at := len(list)
	for i := range list {
		if list[i].name == p.name {
			list[i] = p
			return list
		}
		if at == len(list) && (list[i].name == "paused_by" || list[i].name == "status") {
			at = i
		}
	}
	return append(list[:at:at], append([]line{p}, list[at:]...)...)
}

var (
	jsonLine = regexp.MustCompile(`^ +"(\w+)": (.*?),?$`)
	yamlLine = regexp.MustCompile(`^ +(\w+): (.*)$`)
	order    = regexp.MustCompile(`, x-order: \d+}$`)
)

// within splits a text before and after the lines of the properties that follow a heading.
func within(text, heading, properties string, of *regexp.Regexp) (before string, list []line, after string) {
	i := strings.Index(text, heading)
	if i < 0 {
		return text, nil, ""
	}
	i += len(heading)
	i += strings.Index(text[i:], properties) + len(properties)
	before, rest := text[:i], text[i:]
	for {
		next, more, _ := strings.Cut(rest, "\n")
		m := of.FindStringSubmatch(next)
		if m == nil {
			return before, list, rest
		}
		list, rest = append(list, line{m[1], m[2]}), more
	}
}

// inSchema updates the properties of an entity in the schema of JSON lines.
func inSchema(text string, e entity) string {
	before, list, after := within(text, "\n    \""+string(e.Entity)+"\": {", "\"properties\": {\n", jsonLine)
	for _, f := range e.Said() {
		list = put(list, line{f.Name, f.Form("schema")})
	}
	var b bytes.Buffer
	for i, l := range list {
		comma := ","
		if i == len(list)-1 {
			comma = ""
		}
		fmt.Fprintf(&b, "        %q: %s%s\n", l.name, l.text, comma)
	}
	return before + b.String() + after
}

// inOpenAPI updates the properties of an entity in the bodies of the data API.
func inOpenAPI(text string, e entity) string {
	for _, schema := range []string{"New" + e.T(), e.T() + "Patch", "Item"} {
		before, list, after := within(text, "\n    "+schema+":\n", "\n      properties:\n", yamlLine)
		for _, f := range e.Said() {
			form := "api"
			if schema == "Item" {
				form = "api item"
			}
			list = put(list, line{f.Name, fmt.Sprintf("{%s, x-order: %d}", f.Form(form), f.Order)})
		}
		var b bytes.Buffer
		for i, l := range list {
			if schema != "Item" {
				l.text = order.ReplaceAllString(l.text, fmt.Sprintf(", x-order: %d}", i+1))
			}
			fmt.Fprintf(&b, "        %s: %s\n", l.name, l.text)
		}
		text = before + b.String() + after
	}
	return text
}

// inTables updates the rows of properties in the tables of docs/import.md. A new row is placed after that of the previous property.
func inTables(text string) string {
	cell, value := "", ""
	for _, f := range (table{}).Properties() {
		if f.Row != "" {
			of := strings.ReplaceAll(f.Owners(), ", ", " or ")
			if !f.Own {
				of += ", on any row"
			}
			text = row(text, f.Editor[0], cell, []string{f.aliases(), of, f.Row})
			cell = f.Editor[0]
		}
		if f.Line != "" {
			text = row(text, f.Name, value, []string{f.Owners(), f.Line})
			value = f.Name
		}
	}
	return text
}

// row replaces the row that begins with `name` and stands below the row of `behind`, or adds it after that row.
func row(text, name, behind string, cells []string) string {
	now := "\n| `" + name + "` |"
	for _, cell := range cells {
		now += strings.TrimRight(" "+cell, " ") + " |"
	}
	from := max(0, strings.Index(text, "\n| `"+behind+"` |"))
	i := strings.Index(text[from:], "\n| `"+name+"` |")
	if i < 0 {
		from += 1 + strings.Index(text[from+1:], "\n")
		return text[:from] + now + text[from:]
	}
	i += from
	j := i
	j += 1 + strings.Index(text[j+1:], "\n")
	return text[:i] + now + text[j:]
}

func (f field) aliases() string {
	var list []string
	for _, name := range f.Editor[1:] {
		list = append(list, "`"+name+"`")
	}
	return strings.Join(list, ", ")
}

// inRoles updates the columns that imports may change.
func inRoles(text string, e entity) string {
	key := ""
	if !e.Parent() {
		key = "text, "
	}
	of := regexp.MustCompile(`GRANT UPDATE \([a-z_, ]+\) ON adshard\.` + tableOf(e) + `\s+TO adshard_import;`)
	return of.ReplaceAllString(text, "GRANT UPDATE ("+key+e.Columns()+") ON adshard."+tableOf(e)+" TO adshard_import;")
}

// tableOf returns the name of the entity's table.
func tableOf(e entity) string {
	if e.Entity == fields.Group {
		return "ad_group"
	}
	return string(e.Entity)
}
