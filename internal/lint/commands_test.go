package lint

import (
	"go/ast"
	"go/types"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// copied matches a command in a message that people copy into a shell, up to its end.
var copied = regexp.MustCompile("`(?:adshard|chmod|journalctl|systemctl|kill) [^`]*`")

// verb matches a verb of a format, perhaps with the number of its argument.
var verb = regexp.MustCompile(`%(?:\[(\d)\])?[-+# .\d]*[a-zA-Z%]`)

// quotedAlready lists the arguments of commands that are words of the program, or in quotes already.
var quotedAlready = []string{"unit(role, name)", "role", "m.By", "verb"}

// TestCommandsAreQuoted: names and paths in commands for people to copy are words of a shell (shell.Word).
func TestCommandsAreQuoted(t *testing.T) {
	commands := 0
	for _, p := range read(t).Packages {
		for _, f := range p.Production() {
			ast.Inspect(f.Syntax, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				for _, arg := range namesInCommands(call) {
					if commands++; !strings.HasPrefix(arg, "shell.Word(") && !slices.Contains(quotedAlready, arg) {
						t.Errorf("%s: %s stands in a command to copy: write it by shell.Word", p.Path, arg)
					}
				}
				return true
			})
		}
	}
	if commands < 10 {
		t.Errorf("only %d names in commands were found", commands)
	}
}

// namesInCommands returns the arguments of a call that its format puts into commands as text.
func namesInCommands(call *ast.CallExpr) (list []string) {
	for at, arg := range call.Args {
		text, err := strconv.Unquote(literal(arg))
		if err != nil {
			continue
		}
		spans, next := copied.FindAllStringIndex(text, -1), 1
		for _, m := range verb.FindAllStringSubmatchIndex(text, -1) {
			if text[m[1]-1] == '%' {
				continue
			}
			if m[2] >= 0 {
				next = int(text[m[2]] - '0')
			}
			inside := slices.ContainsFunc(spans, func(s []int) bool { return s[0] < m[0] && m[1] < s[1] })
			if inside && text[m[1]-1] != 'd' && at+next < len(call.Args) {
				list = append(list, types.ExprString(call.Args[at+next]))
			}
			next++
		}
	}
	return list
}

// literal returns the source of a literal, or "".
func literal(e ast.Expr) string {
	if l, ok := e.(*ast.BasicLit); ok {
		return l.Value
	}
	return ""
}
