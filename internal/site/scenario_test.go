package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// step is a command of a page with the output that the page shows below it, or an address that the page names.
type step struct {
	line    int    // line number in the page
	root    string // the machine on which root runs the command, or "" for a user on this machine
	command string
	shown   []string
	address string
}

var (
	autolink = regexp.MustCompile(`<(http://127\.0\.0\.1:[^>]+)>`)
	typed    = regexp.MustCompile(`^(?:([a-z])#|\$) (.*)`)
	heredoc  = regexp.MustCompile(`<<'(\w+)'$`)
	loop     = regexp.MustCompile(`; do$`)
)

// stepsOf returns the steps of a page in order. They are lines of fenced blocks that begin with "$ ", or "a# " for
// root on machine a, each with the lines up to the next one, and links to addresses of this machine.
func stepsOf(page string) (steps []step) {
	fenced, end := false, ""
	var at *step // the last command of this block
	for i, line := range strings.Split(page, "\n") {
		m := typed.FindStringSubmatch(line)
		switch {
		case end != "":
			at.command += "\n" + line
			if line == end {
				end = ""
			}
		case strings.HasPrefix(line, "```"):
			fenced, at = !fenced, nil
		case !fenced:
			for _, m := range autolink.FindAllStringSubmatch(line, -1) {
				steps = append(steps, step{line: i + 1, address: m[1]})
			}
		case m != nil:
			steps = append(steps, step{line: i + 1, root: m[1], command: m[2]})
			at = &steps[len(steps)-1]
			if loop.MatchString(at.command) {
				end = "done"
			} else if m := heredoc.FindStringSubmatch(at.command); m != nil {
				end = m[1]
			}
		case at != nil && line != "":
			at.shown = append(at.shown, line)
		}
	}
	return steps
}

// varies matches times and sizes, which differ in each run.
var varies = regexp.MustCompile(`[0-9.,]+ (µs|ms|s|min|B|KiB|MiB|rows/s)\b`)

// pattern returns an expression for a line that a page shows. It matches any times and sizes, any white space, and
// any text for an ellipsis.
func pattern(line string) *regexp.Regexp {
	line = varies.ReplaceAllString(line, "\x00 $1")
	line = regexp.QuoteMeta(strings.Join(strings.Fields(line), " "))
	line = strings.NewReplacer(" ", `\s+`, "\x00", `[0-9.,]+`, "…", `.*`).Replace(line)
	return regexp.MustCompile(`(?m)^\s*` + line + `\s*$`)
}

// lacks returns the first of the lines shown that is missing from the output, in their order, or "" if none is.
func lacks(output string, shown []string) string {
	for _, line := range shown {
		at := pattern(line).FindStringIndex(output)
		if at == nil {
			return line
		}
		output = output[at[1]:]
	}
	return ""
}

// shell runs the commands of a page one after the other, in one bash, as in a user's terminal.
type shell struct {
	in     io.Writer
	out    *bufio.Reader
	marks  int
	client *http.Client
	kill   func() // kills bash and all processes that it runs
}

const mark = "the end of command"

// patience is the time limit of one command, on a busy machine.
const patience = time.Minute

func startShell(t *testing.T, dir string, environment ...string) *shell {
	t.Helper()
	cmd := exec.Command("bash")
	cmd.Dir, cmd.Env = dir, append(withoutVariables(), environment...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, both, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = both, both
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = both.Close()
	s := &shell{in: in, out: bufio.NewReader(out), client: &http.Client{Timeout: 10 * time.Second},
		kill: func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }}
	t.Cleanup(func() {
		_ = in.Close()
		s.client.CloseIdleConnections()
		s.kill()
		_ = cmd.Wait()
		_ = out.Close()
	})
	return s
}

// withoutVariables returns the environment without the variables that adshard reads as flags.
func withoutVariables() (out []string) {
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "ADSHARD_") {
			out = append(out, v)
		}
	}
	return out
}

// run runs a command and returns what it printed.
func (s *shell) run(command string) (string, error) {
	s.marks++
	end := fmt.Sprintf("%s %d:", mark, s.marks)
	if _, err := fmt.Fprintf(s.in, "%s\nstatus=$?; echo; echo \"%s $status\"\n", command, end); err != nil {
		return "", err
	}
	late := time.AfterFunc(patience, s.kill)
	defer late.Stop()
	var out strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			return out.String(), fmt.Errorf("no end within %v, or the shell ended: %w", patience, err)
		}
		if status, ended := strings.CutPrefix(line, end); ended {
			if status = strings.TrimSpace(status); status != "0" {
				return out.String(), errors.New("exit status " + status)
			}
			return out.String(), nil
		}
		out.WriteString(line)
	}
}

// asRoot starts and stops in the background what systemctl would on a machine, with the files of that machine.
func (s *shell) asRoot(t *testing.T, at step) {
	t.Helper()
	start := true
	units, ok := strings.CutPrefix(at.command, "systemctl enable --now ")
	if !ok {
		start = false
		units, ok = strings.CutPrefix(at.command, "systemctl stop ")
	}
	if !ok {
		t.Fatalf("line %d: only units are started and stopped here, not %s", at.line, at.command)
	}
	for unit := range strings.FieldsSeq(units) {
		program, name, instance := strings.Cut(strings.TrimPrefix(unit, "adshard-"), "@")
		pid := at.root + "_" + program
		line := fmt.Sprintf("adshard %s --config %s/%[1]s.yaml", program, at.root)
		if instance {
			line = fmt.Sprintf("adshard %s --config %s/%s.yaml --name %[3]s --dir stores/%[3]s", program, at.root, name)
		}
		line += fmt.Sprintf(" >%s/%s.log 2>&1 & %s=$!", at.root, program, pid)
		if !start {
			line = fmt.Sprintf("kill $%s && wait $%[1]s", pid)
		}
		if out, err := s.run(line); err != nil {
			t.Fatalf("line %d: %s: %v: %s", at.line, unit, err, out)
		}
	}
}

// get requests an address that a page names.
func (s *shell) get(address string) error {
	answer, err := s.client.Get(address)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	return nil
}

// play runs the steps of a page, and compares their output with what the page shows.
func (s *shell) play(t *testing.T, page string, steps []step) {
	t.Helper()
	for _, step := range steps {
		if step.address != "" {
			if err := s.get(step.address); err != nil {
				t.Fatalf("%s:%d: %s: %v", page, step.line, step.address, err)
			}
			continue
		}
		if step.root != "" {
			s.asRoot(t, step)
			continue
		}
		out, err := s.run(step.command)
		if testing.Verbose() {
			t.Logf("$ %s\n%s", step.command, out)
		}
		if err != nil {
			t.Fatalf("%s:%d: $ %s: %v:\n%s", page, step.line, step.command, err, out)
		}
		if line := lacks(out, step.shown); line != "" {
			t.Errorf("%s:%d: $ %s: no line as %q in\n%s", page, step.line, step.command, line, out)
		}
	}
}

// freePorts returns loopback ports that are free now.
func freePorts(t *testing.T, n int) (ports []string) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		ports = append(ports, port)
	}
	return ports
}

// installed makes a directory, for the PATH, with this program as adshard.
func installed(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "adshard")); err != nil {
		t.Fatal(err)
	}
	return dir
}
