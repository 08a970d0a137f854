package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"adshard/internal/cli"
	"adshard/internal/site/metrics"
)

// makeReference makes the pages that describe the program from the program itself.
func (s *site) makeReference() error {
	for name, page := range map[string]func() (string, error){
		"commands": commandsPage, "configuration": configurationPage, "api": s.apiPage, "metrics": s.metricsPage,
	} {
		text, err := page()
		if err != nil {
			return fmt.Errorf("reference of %s: %w", name, err)
		}
		s.add(generated+name+".md", []byte(text))
	}
	return nil
}

// output returns what a command of adshard prints.
func output(args ...string) (string, error) {
	var out, wrong bytes.Buffer
	if status := cli.Main(context.Background(), "adshard", args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &wrong}); status != 0 {
		return "", fmt.Errorf("adshard %s: exit status %d: %s", strings.Join(args, " "), status, &wrong)
	}
	return out.String(), nil
}

// programs are the commands that units run. The help of adshard does not list the first four.
var programs = []string{"master", "slave", "balancer", "distributor", "collector", "up"}

// commandsPage returns the page with the help of each command.
func commandsPage() (string, error) {
	var text strings.Builder
	text.WriteString("# Commands\n\nWhat each command prints with `--help`. The packages have the same as manual pages.\n")
	err := commandHelp(&text, nil)
	return text.String(), err
}

// below finds the subcommands in a command's help.
var below = regexp.MustCompile(`(?m)^  ([a-z]+) `)

func commandHelp(text *strings.Builder, command []string) error {
	help, err := output(append(command[:len(command):len(command)], "--help")...)
	if err != nil {
		return err
	}
	level := "##"
	if len(command) > 1 {
		level = "###"
	}
	fmt.Fprintf(text, "\n%s %s\n\n```\n%s\n```\n", level, strings.Join(append([]string{"adshard"}, command...), " "), strings.TrimSpace(help))
	_, list, _ := strings.Cut(help, "Available Commands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	names := below.FindAllStringSubmatch(list, -1)
	if len(command) == 0 {
		for _, name := range programs[:4] {
			names = append(names, []string{"", name})
		}
	}
	for _, name := range names {
		if name[1] == "help" {
			continue
		}
		if err := commandHelp(text, append(command[:len(command):len(command)], name[1])); err != nil {
			return err
		}
	}
	return nil
}

// configurationPage returns the page with the keys of each program and their defaults.
func configurationPage() (string, error) {
	var text strings.Builder
	text.WriteString(`# Configuration

The keys of each program's configuration file with their defaults, as ` + "`--print-config`" + ` prints them. Each key is a flag as well
(` + "`query_tls: {mode: …}`" + ` is ` + "`--query-tls-mode`" + `), which [its command](commands.md) describes, and a variable of the environment
(` + "`ADSHARD_QUERY_TLS_MODE`" + `). Flags take precedence over variables, and those over the file.
`)
	for _, program := range programs {
		args := []string{program, "--print-config"}
		if program != "master" && program != "slave" {
			args = append(args, "--db", "sqlite:ads.db") // has no default
		}
		keys, err := output(args...)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&text, "\n## %s\n\n```yaml\n%s\n```\n", program, strings.TrimSpace(keys))
	}
	return text.String(), nil
}

// metricsPage returns the page with the name, type and help of each metric.
func (s *site) metricsPage() (string, error) {
	list, err := metrics.Declared(filepath.Join(s.root, "internal", "node"))
	if err != nil {
		return "", err
	}
	var text strings.Builder
	text.WriteString("# Metrics\n\nAll metrics of all programs, as `/metrics` of the admin ports has them; beside them are those of Go's runtime and of the process.\n" +
		"[Watch a cluster](../operations/watch.md#metrics-and-alerts) says how they are used.\n\n| metric | type | help |\n| --- | --- | --- |\n")
	for _, m := range list {
		fmt.Fprintf(&text, "| `%s` | %s | %s |\n", m.Name, m.Kind, cell(m.Help))
	}
	return text.String(), nil
}

// cell returns a text as a cell of a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}
