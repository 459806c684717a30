/* SPDX-License-Identifier: MIT */
extern "C" int part(int);

int main()
{
    return part(7) - 3;
}
