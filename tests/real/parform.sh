# SPDX-License-Identifier: MIT
# FORM, which reorders long expressions: the master shares terms out to whoever is free.
packages=(form)
inputs() {
    cat >power.frm <<'END'
Symbols a,b,c,d,e,f;
Off Statistics;
Local F = (a+b+c+d+e+f)^9;
id a = b*c - d;
.sort
id b = e + f*c;
.sort
id c^2 = d - 1;
id d = 1 + e;
.sort
Print +s;
.end
END
}
app() { try parform openmpi 4 parform -q power.frm; }
