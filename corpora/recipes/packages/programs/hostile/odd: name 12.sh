#!/bin/sh
echo $1
cd $2
rm -f `cat list.txt`
