package topo

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	tests := []struct {
		list string
		want string // as String writes it
		err  string
	}{
		{"", "host", ""},
		{" ", "host", ""},
		{"host", "host", ""},
		{"host,machine", "host,machine", ""},
		{"machine", "host,machine", ""},
		{"host,rack:2", "host,rack:2", ""},
		{" host , rack:2 ", "host,rack:2", ""},
		{"host,rack:2,row-a:16,machine", "host,rack:2,row-a:16,machine", ""},
		{"numa:4", "numa:4,host", ""},
		{"core,cache:2,numa:4,socket:2", "core,cache:2,numa:4,socket:2,host", ""},
		{"core,numa,socket,host,switch,switch2", "core,numa,socket,host,switch,switch2", ""},
		{"tile:2,host:4,block,rack:2", "tile:2,host:4,block,rack:2", ""},
		{"host,switch:4", "host,switch:4", ""},
		{"host:1048576", "host:1048576", ""},

		{"host,,rack:2", "", `"" is not the name of a level: write small letters and digits, as in host,rack:2`},
		{"host,Rack:2", "", `"Rack" is not the name of a level: write small letters and digits, as in host,rack:2`},
		{"host,2:rack", "", `"2" is not the name of a level: write small letters and digits, as in host,rack:2`},
		{"host,rack=2", "", `"rack=2" is not the name of a level: write small letters and digits, as in host,rack:2`},
		{"host,rack:two", "", `"two" is not a number of parts from 1 to 1048576: rack:2 has two of the level before it`},
		{"host,rack:", "", `"" is not a number of parts from 1 to 1048576: rack:2 has two of the level before it`},
		{"host,rack:0", "", `"0" is not a number of parts from 1 to 1048576: rack:2 has two of the level before it`},
		{"host,rack:-1", "", `"-1" is not a number of parts from 1 to 1048576: rack:2 has two of the level before it`},
		{"host,rack:02", "", `"02" is not a number of parts from 1 to 1048576: rack:2 has two of the level before it`},
		{"host,rack:1048577", "", `"1048577" is not a number of parts from 1 to 1048576: rack:2 has two of the level before it`},
		{"host,rack:2:3", "", `"2:3" is not a number of parts from 1 to 1048576: rack:2 has two of the level before it`},
		{"host,rack", "", "neither Linux nor Slurm describes a rack: say how many of the level before one holds, as in rack:2"},
		{"tile,host", "", "neither Linux nor Slurm describes a tile: say how many of the level before one holds, as in tile:2"},
		{"host,switch7", "", "neither Linux nor Slurm describes a switch7: say how many of the level before one holds, as in switch7:2"},
		{"host,switch1", "", "neither Linux nor Slurm describes a switch1: say how many of the level before one holds, as in switch1:2"},
		{"rack:2", "", "is a rack made of hosts, or a part of one? write host before it (host,rack:2) or after it (rack:2,host)"},
		{"numa:2,rack:2", "", "is a rack made of hosts, or a part of one? write host before it (numa:2,host,rack:2) or after it (numa:2,rack:2,host)"},
		{"host,numa:4", "", "a numa is a part of a host: write it before host"},
		{"switch:2,host", "", "a switch is outside of the hosts: write it after host"},
		{"numa:2,core,host", "", "a core does not hold a numa: write the levels from the PEs outwards, core first"},
		{"host,rack:2,rack:4", "", "rack is there twice: a level has one place between its parts and its whole"},
		{"host,host", "", "host is there twice: a level has one place between its parts and its whole"},
		{"machine,host", "", "machine is all PEs and can only be last: write the levels from the PEs outwards, as in numa:4,host,rack:2"},
		{"host,machine:2", "", "machine is all PEs, however many they are: write it without a number"},
		{"host" + strings.Repeat(",x:1", 20), "", "x is there twice: a level has one place between its parts and its whole"},
		{"host,a:1,b:1,c:1,d:1,e:1,f:1,g:1,h:1,i:1,j:1,k:1,l:1,m:1,n:1,o:1,p:1", "", "there are more than 16 levels"},
	}
	for _, tt := range tests {
		spec, err := Parse(tt.list)
		if tt.err != "" {
			if err == nil || err.Error() != tt.err {
				t.Errorf("%q: %v, %v; want the error %s", tt.list, spec, err, tt.err)
			}
		} else if err != nil || spec.String() != tt.want {
			t.Errorf("%q: %v, %v; want %s", tt.list, spec, err, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "host,rack:2", "numa:4,socket:2,host", "core,cache,numa,socket,host,switch,machine", "tile:3,host:2,rack:1048576", "rack", "host:0", ":,", "host,switch2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, list string) {
		spec, err := Parse(list)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: more than one line: %v", list, err)
			}
			return
		}
		if again, err := Parse(spec.String()); err != nil || again.String() != spec.String() {
			t.Errorf("%q is %v, which is read as %v, %v", list, spec, again, err)
		}
		for _, places := range [][]Place{nil, bound(server.sys(), "0 1 4 5 8 0-7 0-15 12", "a.b.n")} {
			tree, err := Build(spec, []int{3, 1, 4}, places)
			if err != nil {
				continue // what is not there, or does not nest
			}
			checkTree(t, tree)
		}
	})
}
